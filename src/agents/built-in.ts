export { tripPlanner } from './trip-planner.ts';
