/**
 * That a row does not belong to a deleted conversation, of which nobody is shown anything while its rows are still there.
 * Mostly there is no such conversation.
 *
 * @param column that holds the id of a conversation, or null
 */
export function isShown(column: string): string {
  return `(${column} is null or ${column} not in
    (select id from holdfast.conversation where deleted_at is not null and not purged))`;
}
