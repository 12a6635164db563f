import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface PageServer {
  port: number;
  /** What its certificate is to be trusted by. */
  ca: string;
  close(): void;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Serves pages by their path over https on 127.0.0.1, as each of `names` with a certificate made for it. */
export async function startPageServer(names: string[], pages: { [path: string]: Answer }): Promise<PageServer> {
  const { key, cert } = selfSigned(names);
  const answer: RequestListener = (request, response) => {
    const page = pages[request.url ?? ''];
    if (page === undefined) response.writeHead(404).end();
    else page(response, request);
  };
  const server = createServer({ key, cert }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ca: cert,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function selfSigned(names: string[]): { key: string; cert: string } {
  const directory = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  const file = (name: string) => path.join(directory, name);
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'].concat(
        ['-subj', '/CN=holdfast.test', '-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`],
        ['-keyout', file('key.pem'), '-out', file('cert.pem')],
      ),
      { stdio: 'pipe' },
    );
    return { key: readFileSync(file('key.pem'), 'utf8'), cert: readFileSync(file('cert.pem'), 'utf8') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
