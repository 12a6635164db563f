/** How far something has come: 0 to 1, or null when nobody can say. */
export function Progress({ fraction }: { fraction: number | null }) {
  const percent = fraction === null ? null : Math.round(Math.min(1, Math.max(0, fraction)) * 100);
  return (
    <div
      class={percent === null ? 'progress progress-unknown' : 'progress'}
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent ?? undefined}
    >
      <span class="progress-bar" style={percent === null ? undefined : { inlineSize: `${percent}%` }} />
      {percent !== null && (
        <span class="progress-words" aria-hidden="true">
          {percent} %
        </span>
      )}
    </div>
  );
}
