import type { Client } from './client.ts';
import { findEnvironment, type Waker } from './environment.ts';

const wakers = new WeakMap<Client, Waker>();

/** Lets what is built upon a client be woken together with it. */
export function setWaker(client: Client, waker: Waker): void {
  wakers.set(client, waker);
}

/** That of a client that is none of ours, as a test's, is the place where it runs. */
export function wakerOf(client: Client): Waker {
  return wakers.get(client) ?? findEnvironment();
}
