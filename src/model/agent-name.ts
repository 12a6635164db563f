/** An agent's name: lower-case letters, digits, `-` and `_`, at most 64, beginning with a letter. */
export const AGENT_NAME = /^[a-z][a-z0-9_-]{0,63}$/;
