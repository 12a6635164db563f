import { expect, test } from 'vitest';
import { serviceUrl } from '../../src/web/service-url.ts';

test.each([
  ['http://127.0.0.1:4747/', 'http://127.0.0.1:4747'],
  ['http://127.0.0.1:4747/#/inbox', 'http://127.0.0.1:4747'],
  ['https://example.com/agents/holdfast/', 'https://example.com/agents/holdfast'],
  ['https://example.com/agents/holdfast/?x=1#/tasks/task_1', 'https://example.com/agents/holdfast'],
])('the service of the page %s is at %s', (page, service) => {
  expect(serviceUrl(page)).toBe(service);
});
