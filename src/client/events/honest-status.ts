import type { Network } from '../environment.ts';
import type { Report } from './connection-board.ts';

/** What a stream reports, put right by what the device says of its network. */
export interface HonestStatus {
  report(report: Report): void;
  /** Something has come: whatever the device says, there is a network. */
  onSign(): void;
  close(): void;
}

/**
 * Says `offline` as soon as the device does, and what was said before once something comes nevertheless: a server on this
 * machine needs no network.
 */
export function createHonestStatus(network: Network, report: (report: Report) => void): HonestStatus {
  let told: Report = { status: 'connecting' };
  let isDoubted = false;
  const stopListening = network.onOffline(() => {
    isDoubted = true;
    report({ ...told, status: 'offline' });
  });
  return {
    report(next) {
      isDoubted = false;
      told = next;
      report(next);
    },
    onSign() {
      if (!isDoubted) return;
      isDoubted = false;
      report(told);
    },
    close: stopListening,
  };
}
