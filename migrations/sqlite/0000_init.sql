CREATE TABLE `agent` (
	`name` text PRIMARY KEY NOT NULL,
	`version` text NOT NULL,
	`description` text NOT NULL,
	`input_schema` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `event` (
	`log` integer NOT NULL,
	`seq` integer NOT NULL,
	`task` integer NOT NULL,
	`root` integer NOT NULL,
	`at` integer NOT NULL,
	`type` text NOT NULL,
	`step` text,
	`data` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `event_place` ON `event` (`log`,`seq`);--> statement-breakpoint
CREATE INDEX `event_of_root` ON `event` (`root`,`seq`);--> statement-breakpoint
CREATE TABLE `idempotency_key` (
	`log` integer NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`at` integer NOT NULL,
	`result` text NOT NULL,
	PRIMARY KEY(`log`, `key`),
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_key_age` ON `idempotency_key` (`at`);--> statement-breakpoint
CREATE TABLE `log` (
	`id` integer PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`head` integer NOT NULL,
	`pruned_seq` integer NOT NULL,
	`epoch` text,
	CONSTRAINT "log_marks" CHECK(pruned_seq between 0 and head),
	CONSTRAINT "log_epoch_from_first_event" CHECK((epoch is null) = (head = 0))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `log_owner_unique` ON `log` (`owner`);--> statement-breakpoint
CREATE TABLE `log_epoch` (
	`log` integer NOT NULL,
	`epoch` text NOT NULL,
	`first_seq` integer NOT NULL,
	PRIMARY KEY(`log`, `first_seq`),
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "log_epoch_first_seq" CHECK(first_seq >= 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `log_epoch_once` ON `log_epoch` (`log`,`epoch`);--> statement-breakpoint
CREATE TABLE `question` (
	`key` integer PRIMARY KEY NOT NULL,
	`log` integer NOT NULL,
	`id` text NOT NULL,
	`task` integer NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`asked_at` integer NOT NULL,
	`expires_at` integer,
	`resolved_at` integer,
	`resolved_by` text,
	`reason` text,
	`answers` text,
	`metadata` text NOT NULL,
	`items` text NOT NULL,
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`task`) REFERENCES `task`(`key`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "question_status" CHECK(status in ('pending', 'answered', 'declined', 'expired', 'cancelled')),
	CONSTRAINT "question_resolved" CHECK((resolved_at is null) = (status = 'pending')),
	CONSTRAINT "question_answers" CHECK((answers is not null) = (status = 'answered')),
	CONSTRAINT "question_resolved_by" CHECK((resolved_by is not null) = (status in ('answered', 'declined'))),
	CONSTRAINT "question_reason" CHECK(reason is null and status <> 'cancelled' or status = 'declined' or (status = 'cancelled' and reason in ('cancelled', 'interrupted', 'task_finished', 'withdrawn')))
);
--> statement-breakpoint
CREATE INDEX `question_by_status` ON `question` (`log`,`status`);--> statement-breakpoint
CREATE INDEX `question_of_task` ON `question` (`task`,`status`);--> statement-breakpoint
CREATE INDEX `question_deadline` ON `question` (`expires_at`) WHERE status = 'pending' and expires_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `question_id` ON `question` (`log`,`id`);--> statement-breakpoint
CREATE TABLE `task` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`log` integer NOT NULL,
	`id` text NOT NULL,
	`agent` text NOT NULL,
	`status` text NOT NULL,
	`blocked` integer NOT NULL,
	`parent_id` text,
	`root_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`fence` integer NOT NULL,
	`pending_question_count` integer NOT NULL,
	`priority` integer NOT NULL,
	`concurrency_key` text,
	`version` text,
	`timeout_ms` integer NOT NULL,
	`ran_ms` integer NOT NULL,
	`running_since` integer,
	`deadline_at` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`first_seq` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`pruned_seq` integer NOT NULL,
	`progress` text,
	`error` text,
	`metadata` text NOT NULL,
	`input` text,
	`output` text,
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "task_status" CHECK(status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "task_blocked" CHECK(blocked = 0 or (blocked = 1 and status = 'queued' and concurrency_key is not null)),
	CONSTRAINT "task_root" CHECK((parent_id is null) = (root_id = id)),
	CONSTRAINT "task_finished" CHECK((finished_at is not null) = (status in ('completed', 'failed', 'cancelled'))),
	CONSTRAINT "task_clock" CHECK((running_since is not null) = (status = 'running')),
	CONSTRAINT "task_deadline_while_running" CHECK((deadline_at is not null) = (status = 'running')),
	CONSTRAINT "task_begun_once_run" CHECK((started_at is null) = (attempt = 0)),
	CONSTRAINT "task_runs_under_a_claim" CHECK(status not in ('running', 'waiting', 'completed') or (attempt > 0 and fence > 0)),
	CONSTRAINT "task_error" CHECK((error is not null) = (status = 'failed')),
	CONSTRAINT "task_output" CHECK(output is null or status = 'completed'),
	CONSTRAINT "task_open_questions" CHECK(pending_question_count >= 0 and (pending_question_count = 0 or finished_at is null)),
	CONSTRAINT "task_seqs" CHECK(first_seq <= last_seq and pruned_seq <= last_seq),
	CONSTRAINT "task_priority" CHECK(priority between -100 and 100)
);
--> statement-breakpoint
CREATE INDEX `task_by_status` ON `task` (`log`,`status`);--> statement-breakpoint
CREATE INDEX `task_by_agent` ON `task` (`log`,`agent`,`status`);--> statement-breakpoint
CREATE INDEX `task_children` ON `task` (`log`,`parent_id`) WHERE parent_id is not null and finished_at is null;--> statement-breakpoint
CREATE INDEX `task_queue` ON `task` (`log`,priority desc) WHERE status = 'queued' and blocked = 0;--> statement-breakpoint
CREATE INDEX `task_lane_queue` ON `task` (`log`,`concurrency_key`,priority desc) WHERE status = 'queued' and concurrency_key is not null;--> statement-breakpoint
CREATE INDEX `task_lane_head` ON `task` (`log`,`concurrency_key`) WHERE status = 'queued' and blocked = 0 and concurrency_key is not null;--> statement-breakpoint
CREATE INDEX `task_lane_busy` ON `task` (`log`,`concurrency_key`) WHERE status = 'running' and concurrency_key is not null;--> statement-breakpoint
CREATE INDEX `task_deadline` ON `task` (`deadline_at`) WHERE deadline_at is not null;--> statement-breakpoint
CREATE INDEX `task_begun` ON `task` (`log`) WHERE finished_at is null and attempt > 0;--> statement-breakpoint
CREATE INDEX `root_unfinished` ON `task` (`log`,`first_seq`) WHERE parent_id is null and finished_at is null;--> statement-breakpoint
CREATE INDEX `root_prunable` ON `task` (`finished_at`) WHERE parent_id is null and finished_at is not null and pruned_seq < last_seq;--> statement-breakpoint
CREATE UNIQUE INDEX `task_id` ON `task` (`log`,`id`);--> statement-breakpoint
CREATE TABLE `timer` (
	`task` integer NOT NULL,
	`key` text NOT NULL,
	`due_at` integer NOT NULL,
	PRIMARY KEY(`task`, `key`),
	FOREIGN KEY (`task`) REFERENCES `task`(`key`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `timer_due` ON `timer` (`due_at`);