import fc from 'fast-check';
import { anyJsonText, bodyOf, jsonTextOf, oddText, type Schema } from './odd-json.ts';
import { contentType, encode, HEADERS, HINTS, ID_KINDS, oddSegment, PARAMETERS, token } from './odd-values.ts';

/** A request of valid HTTP, in which `{{task:17}}` and its like are still to be filled in. */
export interface OddRequest {
  operation: string;
  method: string;
  target: string;
  headers: [name: string, value: string][];
  /** Null for none. */
  body: string | null;
  framing: 'length' | 'chunked';
  /** After how many ms the client goes away; null when it waits. */
  leaveAfterMs: number | null;
}

/** What the fuzzer needs of an OpenAPI document. */
export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components: { schemas: Record<string, Schema> };
}

interface ApiOperation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> };
}

/** Requests for every operation of the document, its own parameters and bodies, and oddities of all kinds. */
export function operationRequests(document: ApiDocument): fc.Arbitrary<OddRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      weight: weightOf(path, method),
      arbitrary: requestOf(path, method.toUpperCase(), operation, document.components.schemas),
    })),
  );
  return fc.oneof(...operations);
}

/** What changes something is of most interest; pages are big, and much alike. */
function weightOf(path: string, method: string): number {
  if (!path.startsWith('/v1')) return 1;
  return method === 'get' ? 4 : method === 'delete' ? 1 : 6;
}

function requestOf(path: string, method: string, operation: ApiOperation, schemas: Record<string, Schema>) {
  const { parameters = [], requestBody } = operation;
  const schema = requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? fc.constant(null) : bodyOf(jsonTextOf(schema, schemas, HINTS));
  return fc
    .record({
      path: pathOf(path),
      query: queryOf(parameters.filter((parameter) => parameter.in === 'query')),
      method: fc.oneof(
        { weight: 40, arbitrary: fc.constant(method) },
        fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'GET', 'TRACE'),
      ),
      headers: fc.tuple(...HEADERS.map((header) => fc.option(header))),
      headerMask: fc.nat(7),
      body: schema === undefined ? fc.oneof({ weight: 20, arbitrary: body }, anyJsonText) : body,
      type: contentType,
      isChunked: fc.nat(5),
      leaveAfterMs: fc.constantFrom(0, 1, 3, 10, 30, 80),
      leaves: fc.nat(30),
    })
    .map(({ headers, headerMask, type, isChunked, leaves, leaveAfterMs, ...rest }): OddRequest => {
      const mayStream = rest.query.includes('wait=60') || rest.path.includes('events');
      const chosen = headers.filter(
        (header, index) => header !== null && (index < 3 ? (headerMask >> index) & 1 : index % 8 === headerMask),
      );
      const given = chosen.filter((header) => header !== null);
      return {
        operation: operation.operationId,
        method: rest.method,
        target: `${rest.path}${rest.query}`,
        headers: rest.body === null ? given : [...given, ['Content-Type', type]],
        body: rest.body,
        framing: isChunked === 0 ? 'chunked' : 'length',
        leaveAfterMs: mayStream || leaves === 0 ? leaveAfterMs : null,
      };
    });
}

function pathOf(path: string): fc.Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return fc.constant(segment);
    const kind = ID_KINDS[name];
    if (kind === undefined) return fc.oneof(oddSegment, fc.constantFrom('swagger-ui.css', 'console.html', 'start.js'));
    return fc.oneof(
      { weight: 16, arbitrary: token(kind) },
      { weight: 1, arbitrary: token('msg') },
      { weight: 1, arbitrary: oddSegment },
    );
  });
  return fc.tuple(fc.tuple(...segments), fc.nat(60)).map(([texts, way]) => {
    const text = texts.join('/');
    if (way === 0) return `${text}/`;
    if (way === 1) return text.replaceAll('/', '//');
    return way === 2 ? text.replace('v1', 'v1/..') : text;
  });
}

function queryOf(parameters: { name: string }[]): fc.Arbitrary<string> {
  const known = parameters.map(({ name }) => {
    const value =
      PARAMETERS[name] ?? fc.constantFrom('asc', 'desc', 'pending', 'unfinished', 'completed', 'running', '');
    return fc.tuple(fc.constant(name), value, fc.nat(3));
  });
  const odd = fc.tuple(
    fc.constantFrom('ticket', 'lastEventId', '__proto__', 'wait[]', '', 'limit'),
    oddText.map(encode),
    fc.nat(20),
  );
  return fc.tuple(...known, odd).map((all) => {
    const given = all.filter(([, , chance]) => chance === 0).map(([name, value]) => `${name}=${value}`);
    return given.length === 0 ? '' : `?${given.join('&')}`;
  });
}
