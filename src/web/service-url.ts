/**
 * Where the service is that this page came from, without a slash at the end: the page's own folder, so that a proxy's
 * prefix stays in front.
 */
export function serviceUrl(pageUrl: string): string {
  const { href } = new URL('.', pageUrl);
  return href.slice(0, -1);
}
