/** A path with those parameters that have a value; a list is joined by commas. */
export function withQuery(path: string, parameters: { [name: string]: string | number | undefined }): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => {
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}
