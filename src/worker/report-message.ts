import { packEvents, unpackEvents } from '../model/event-text.ts';
import type { Report } from './protocol.ts';

/** A batch of reports as it crosses the port: the events of an append are packed. */
export type ReportMessage = PackedReport[];

type Append = Extract<Report, { kind: 'append' }>;
type PackedReport = Exclude<Report, Append> | (Omit<Append, 'events'> & { events: string });

export function packReports(reports: readonly Report[]): ReportMessage {
  return reports.map((report) =>
    report.kind === 'append' ? { ...report, events: packEvents(report.events) } : report,
  );
}

export function unpackReports(message: ReportMessage): Report[] {
  return message.map((report) =>
    report.kind === 'append' ? { ...report, events: unpackEvents(report.events) } : report,
  );
}
