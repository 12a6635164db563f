import type { Lease } from '../model/fence.ts';
import type { Command, Told } from '../worker/protocol.ts';
import { type Channel, createChannel, type News } from './channel.ts';

/** Tells the copies in the workers of commits, each of those that concern it, and tells at once what one commit brings. */
export interface Telling {
  /** A copy is started with all that was resolved up to the place `ord`. */
  begin(copy: Lease & { owner: string }, ord: number): void;
  /** Tells a copy, in the order of the commits. One that is not there is told nothing. */
  put(taskId: string, news: News): void;
  /** See {@link Channel.learn}. */
  learn(taskId: string, ord: number, resolutions: readonly Told[]): void;
  /** See {@link Channel.finish}. */
  finish(taskId: string, n: number): void;
  /** See {@link Channel.close}. */
  end(taskId: string): void;
  /** To be called when a commit has been told of. */
  flush(): void;
  /** The newest place that the copy knows of; 0 for one that is not there. */
  ord(taskId: string): number;
  /** How many were claimed again and do not know it yet. */
  adopting(): number;
}

/** @param onBehind called when there is something to learn for copies of an owner; null where no other process writes */
export function createTelling(send: (command: Command) => void, onBehind: ((owner: string) => void) | null): Telling {
  const channels = new Map<string, Channel>();
  /** Those for which something may have gathered. */
  const touched = new Set<Channel>();
  const adopting = new Set<Channel>();

  function touch(taskId: string): Channel | undefined {
    const channel = channels.get(taskId);
    if (channel !== undefined) touched.add(channel);
    return channel;
  }

  function forget(taskId: string): void {
    const channel = channels.get(taskId);
    if (channel !== undefined) adopting.delete(channel);
    channels.delete(taskId);
  }

  return {
    begin(copy, ord) {
      const { owner, taskId } = copy;
      channels.set(taskId, createChannel(copy, ord, send, onBehind === null ? null : () => onBehind(owner)));
    },
    put(taskId, news) {
      const channel = touch(taskId);
      channel?.put(news);
      if (channel?.isAdoptionHeld === true) adopting.add(channel);
    },
    learn(taskId, ord, resolutions) {
      const channel = touch(taskId);
      channel?.learn(ord, resolutions);
      if (channel?.isAdoptionHeld === false) adopting.delete(channel);
    },
    finish(taskId, n) {
      touch(taskId)?.finish(n);
      forget(taskId);
    },
    end(taskId) {
      channels.get(taskId)?.close();
      forget(taskId);
    },
    flush() {
      for (const channel of touched) channel.flush();
      touched.clear();
    },
    ord: (taskId) => channels.get(taskId)?.ord ?? 0,
    adopting: () => adopting.size,
  };
}
