export { assistant } from './assistant.ts';
export { chat } from './chat.ts';
export { tripPlanner } from './trip-planner.ts';
