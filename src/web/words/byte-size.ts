/** `812 characters`, `1.4 MB`: how much text there is, roughly. */
export function sizeWords(characters: number): string {
  if (characters < 1000) return `${characters} characters`;
  if (characters < 1_000_000) return `${(characters / 1000).toFixed(characters < 10_000 ? 1 : 0)} KB`;
  return `${(characters / 1_000_000).toFixed(1)} MB`;
}
