import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

describeInChromium('The description of the API, as a page', (chromium) => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServerProcess();
  });
  afterAll(() => server.stop());

  // Would fail if its policy forbade what swagger-ui does: the browser tells of every violation.
  test('shows the routes and tries one, within its own policy', async () => {
    const page = await (await chromium.newContext()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${server.url}/docs`);

    await page.getByText('/v1/agents', { exact: true }).click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();

    await page.getByText('trip-planner').first().waitFor();
    expect(complaints).toEqual([]);
  });
});
