import type { Page, RequestOptions } from '../client.ts';
import type { Requests } from './request.ts';

export async function readListPage<Item>(
  requests: Requests,
  path: string,
  { signal }: RequestOptions = {},
): Promise<Page<Item>> {
  const { body, cursor } = await requests.read<Omit<Page<Item>, 'cursor'>>(path, { signal });
  return { ...body, cursor };
}
