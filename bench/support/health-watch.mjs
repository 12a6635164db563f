/** Asks `/healthz` again and again in a thread of its own, whose loop nothing else keeps busy, and tells how long each took. */
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { url, lastMs, everyMs } = workerData;
const until = performance.now() + lastMs;
const tookMs = [];
while (performance.now() < until) {
  const askedAt = performance.now();
  await new Promise((resolve, reject) => {
    const request = get(`${url}/healthz`, { agent: false }, (response) => {
      response.resume().once('end', resolve);
      if (response.statusCode !== 200) reject(new Error(`healthz is ${response.statusCode}.`));
    });
    request.once('error', reject);
  });
  tookMs.push(performance.now() - askedAt);
  await delay(everyMs);
}
parentPort?.postMessage(tookMs);
