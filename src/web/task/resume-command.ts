/** What to type in a terminal to be told what happens after an event, and then what happens now. */
export function resumeCommand(url: string, taskId: string, cursor: string): string {
  return `curl -N '${url}/v1/tasks/${taskId}/events?after=${cursor}'`;
}
