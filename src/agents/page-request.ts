import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { isPublicAddress } from './public-address.ts';

const MAX_REDIRECTS = 5;
/** Of a page as it is when it is unpacked. */
const MAX_PAGE_BYTES = 1024 * 1024;
const READABLE_TYPE = /^(text\/[\w.+-]+|application\/json)$/;

/** What a request can reach. Models have no say in it. */
export interface Network {
  /** Every address of a host name. */
  resolve(hostname: string): Promise<LookupAddress[]>;
  mayReach(address: string): boolean;
  /** The only certificate authority that is trusted, in PEM. Default: those of Node. */
  ca?: string;
}

export const PUBLIC_INTERNET: Network = {
  resolve: (hostname) => lookup(hostname, { all: true }),
  mayReach: isPublicAddress,
};

export interface Page {
  /** Where it was in the end, after redirects. */
  url: string;
  /** Without its parameters, in lower case. */
  mediaType: string;
  /** As the server names it; null where it does not. */
  charset: string | null;
  body: Buffer;
  /** True when the page goes on after `body`. */
  isCut: boolean;
}

/**
 * Gets a page over https, and follows redirects. Every name is resolved once; each of its addresses must be one that may
 * be reached, and the connection is made to one of these: a name cannot change its address between the check and the use.
 *
 * @throws Error that says in plain words what is wrong with the URL, the server or its answer
 */
export async function getPage(url: string, network: Network, signal: AbortSignal): Promise<Page> {
  let target = checkedUrl(url, network);
  for (let redirects = 0; ; redirects++) {
    const response = await send(target, network, signal);
    const location = redirectOf(response);
    if (location === null) return readPage(target, response);
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times.`);
    target = checkedUrl(location, network, target);
  }
}

function checkedUrl(text: string, { mayReach }: Network, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new Error(`${JSON.stringify(text)} is no URL.`);
  const url = new URL(text, base);
  if (url.protocol !== 'https:')
    throw new Error(`${url.href} does not begin with https://, and nothing else is fetched.`);
  if (url.username !== '' || url.password !== '')
    throw new Error('A URL with a user name or a password is not fetched.');
  // A name is checked when it is resolved, for the connection.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host)) throw privateAddress(url.hostname);
  return url;
}

function privateAddress(hostname: string): Error {
  return new Error(`${hostname} is not in the public internet, and is not fetched.`);
}

function send(url: URL, network: Network, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = {
    accept: 'text/html, text/*;q=0.9, application/json;q=0.9',
    'accept-encoding': 'gzip, br',
    'user-agent': 'Holdfast (fetch_page)',
  };
  const { ca } = network;
  // No connection is kept: the next page is to be checked again.
  const options = { agent: false, headers, lookup: checkedLookup(network), signal, ...(ca !== undefined && { ca }) };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, options, resolve);
    request.on('error', (error) => reject(failureOf(url, error)));
    request.end();
  });
}

function checkedLookup({ resolve, mayReach }: Network): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => mayReach(address))) {
          callback(privateAddress(hostname), []);
        } else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

/** A refused address says all there is to say; what the system or TLS reports has a code. */
function failureOf({ host }: URL, error: NodeJS.ErrnoException): Error {
  if (error.code === undefined) return error;
  // Where each of several addresses has failed, the error has no message of its own.
  return new Error(`${host} cannot be reached: ${error.message || error.code}`, { cause: error });
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage): string | null {
  return [301, 302, 303, 307, 308].includes(statusCode) ? (headers.location ?? null) : null;
}

async function readPage(url: URL, response: IncomingMessage): Promise<Page> {
  const { statusCode = 0, statusMessage = '', headers } = response;
  const type = headers['content-type'] ?? '';
  const [mediaType = ''] = type.toLowerCase().split(';', 1);
  try {
    if (statusCode !== 200) throw new Error(`${url.href} answered ${statusCode} ${statusMessage}.`);
    if (!READABLE_TYPE.test(mediaType.trim())) {
      throw new Error(`${url.href} is ${type || 'of no known type'}; only text, HTML and JSON can be read.`);
    }
    const charset = /;\s*charset="?([\w.:-]+)/i.exec(type)?.[1] ?? null;
    return { url: url.href, mediaType: mediaType.trim(), charset, ...(await readBody(response)) };
  } finally {
    response.destroy();
  }
}

async function readBody(response: IncomingMessage): Promise<Pick<Page, 'body' | 'isCut'>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of unpacked(response)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_PAGE_BYTES) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, MAX_PAGE_BYTES), isCut: bytes > MAX_PAGE_BYTES };
}

function unpacked(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  switch (encoding) {
    case 'identity':
      return response;
    case 'gzip':
      return pipeline(response, createGunzip(), () => {});
    case 'br':
      return pipeline(response, createBrotliDecompress(), () => {});
    default:
      throw new Error(`The page is packed with ${encoding}, which was not asked for.`);
  }
}
