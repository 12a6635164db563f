/** How many rounds of a race a test plays: few by default, `HOLDFAST_ROUNDS=1000` for all. */
export function rounds(atMost: number): number {
  const asked = Number(process.env.HOLDFAST_ROUNDS ?? 20);
  return Math.min(atMost, asked);
}
