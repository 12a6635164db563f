/** Arms a failpoint of a copy of the code: in the main thread, in the writer's, and in those of the agents, who are given little. */
export function failpointEnv(name: string, passing: number): Record<string, string> {
  return { FAILPOINT: `${name}:${passing}`, HOLDFAST_AGENT_ENV: 'FAILPOINT' };
}
