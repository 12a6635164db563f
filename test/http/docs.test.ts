import { expect, test } from 'vitest';
import { createAppDouble, send } from './app-double.ts';

const { app } = createAppDouble();

test('shows a page whose every part comes from this server', async () => {
  const response = await send(app, '/docs');
  const page = await response.text();
  const parts = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part);

  expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(page).not.toMatch(/\/\/|<script>/);
  expect(parts).toHaveLength(4);
  for (const part of parts) {
    const { pathname } = new URL(part, 'http://localhost/docs');
    expect((await send(app, pathname)).status, pathname).toBe(200);
  }
});

test('starts swagger-ui on our own description, with no validator elsewhere', async () => {
  const script = await (await send(app, '/docs/start.js')).text();

  expect(script).toContain("url: 'openapi.json'");
  expect(script).toContain('validatorUrl: null');
  expect(script).not.toMatch(/https?:/);
});

test('forbids the page to load anything from elsewhere', async () => {
  const response = await send(app, '/docs');

  expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
});

test.each([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
])('serves %s whole', async (file, type) => {
  const response = await send(app, `/docs/${file}`);

  expect(response.headers.get('Content-Type')).toBe(type);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(500);
});
