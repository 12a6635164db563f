CREATE TABLE `conversation` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`log` integer NOT NULL,
	`id` text NOT NULL,
	`agent` text,
	`created_at` integer NOT NULL,
	`last_activity_at` integer NOT NULL,
	`pruned_seq` integer NOT NULL,
	`unfinished_roots` integer NOT NULL,
	`deleted_at` integer,
	`purged` integer NOT NULL,
	`title` text,
	`metadata` text NOT NULL,
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "conversation_unfinished" CHECK(unfinished_roots >= 0 and (unfinished_roots = 0 or deleted_at is null)),
	CONSTRAINT "conversation_purged" CHECK(purged in (0, 1) and (purged = 0 or deleted_at is not null))
);
--> statement-breakpoint
CREATE INDEX `conversation_by_activity` ON `conversation` (`log`,`last_activity_at`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `conversation_deleted` ON `conversation` (`deleted_at`) WHERE deleted_at is not null and purged = 0;--> statement-breakpoint
CREATE UNIQUE INDEX `conversation_id` ON `conversation` (`log`,`id`);--> statement-breakpoint
CREATE TABLE `message` (
	`key` integer PRIMARY KEY NOT NULL,
	`log` integer NOT NULL,
	`id` text NOT NULL,
	`conversation` integer NOT NULL,
	`task` integer NOT NULL,
	`role` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`metadata` text NOT NULL,
	`content` text NOT NULL,
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`conversation`) REFERENCES `conversation`(`key`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`task`) REFERENCES `task`(`key`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "message_role" CHECK(role in ('user', 'assistant')),
	CONSTRAINT "message_status" CHECK(status = 'complete' or (status = 'partial' and role = 'assistant'))
);
--> statement-breakpoint
CREATE INDEX `message_of_conversation` ON `message` (`conversation`);--> statement-breakpoint
CREATE INDEX `message_of_task` ON `message` (`task`);--> statement-breakpoint
CREATE UNIQUE INDEX `message_id` ON `message` (`log`,`id`);--> statement-breakpoint
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
	`conversation` integer,
	`at` integer NOT NULL,
	`type` text NOT NULL,
	`step` text,
	`data` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `event_place` ON `event` (`log`,`seq`);--> statement-breakpoint
CREATE INDEX `event_of_root` ON `event` (`root`,`seq`);--> statement-breakpoint
CREATE INDEX `event_of_conversation` ON `event` (`conversation`,`seq`) WHERE conversation is not null;--> statement-breakpoint
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
	`claimable` integer NOT NULL,
	`turn` integer NOT NULL,
	`unfinished_roots` integer NOT NULL,
	`pending_questions` integer NOT NULL,
	CONSTRAINT "log_claimable_count" CHECK(claimable >= 0),
	CONSTRAINT "log_unfinished" CHECK(unfinished_roots >= 0 and pending_questions >= 0),
	CONSTRAINT "log_marks" CHECK(pruned_seq between 0 and head),
	CONSTRAINT "log_epoch_from_first_event" CHECK((epoch is null) = (head = 0))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `log_owner_unique` ON `log` (`owner`);--> statement-breakpoint
CREATE INDEX `log_turn` ON `log` (`turn`);--> statement-breakpoint
CREATE INDEX `log_claimable` ON `log` (`turn`) WHERE claimable > 0;--> statement-breakpoint
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
CREATE TABLE `journal` (
	`task` integer NOT NULL,
	`key` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`asked_at` integer NOT NULL,
	`ord` integer,
	`emits_done` integer,
	`at` integer,
	`tries` integer NOT NULL,
	`once` integer NOT NULL,
	`due_at` integer,
	`message_id` text,
	`message_after_seq` integer,
	`value` text,
	PRIMARY KEY(`task`, `key`),
	FOREIGN KEY (`task`) REFERENCES `task`(`key`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "journal_status" CHECK(kind = 'step' and status in ('pending', 'done', 'failed') or kind = 'ask' and status in ('pending', 'answered', 'declined', 'expired', 'withdrawn') or kind = 'sleep' and status in ('pending', 'done') or kind = 'inbox' and status in ('done') or kind = 'history' and status in ('done') or kind = 'spawn' and status in ('pending', 'done') or kind = 'child' and status in ('pending', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "journal_key_of_a_child" CHECK((kind = 'child') = (substr(key, -1) = '>')),
	CONSTRAINT "journal_resolved" CHECK((value is null) = (status = 'pending') and (status <> 'pending' or ord is null or kind = 'spawn')),
	CONSTRAINT "journal_place" CHECK((status = 'pending' or ord is not null) and (emits_done is null) = (ord is null) and (at is null) = (ord is null)),
	CONSTRAINT "journal_due_while_asleep" CHECK(due_at is null or (kind = 'sleep' and status = 'pending')),
	CONSTRAINT "journal_message_of_a_step" CHECK((message_id is null) = (message_after_seq is null) and (message_id is null or (kind = 'step' and status = 'pending'))),
	CONSTRAINT "journal_of_steps" CHECK(kind = 'step' or (tries = 0 and once = 0)),
	CONSTRAINT "journal_counts" CHECK(asked_at >= 0 and ord >= 1 and emits_done >= 0 and tries >= 0 and once in (0, 1))
);
--> statement-breakpoint
CREATE INDEX `journal_pending` ON `journal` (`task`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `journal_due` ON `journal` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `journal_ord` ON `journal` (`task`,`ord`) WHERE ord is not null;--> statement-breakpoint
CREATE TABLE `question` (
	`key` integer PRIMARY KEY NOT NULL,
	`log` integer NOT NULL,
	`id` text NOT NULL,
	`task` integer NOT NULL,
	`conversation_id` text,
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
CREATE INDEX `question_of_conversation` ON `question` (`log`,`conversation_id`,`status`) WHERE conversation_id is not null;--> statement-breakpoint
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
	`conversation_id` text,
	`is_turn` integer NOT NULL,
	`message_count` integer NOT NULL,
	`lane` text,
	`spawn_key` text,
	`depth` integer NOT NULL,
	`retry_of` text,
	`attempt` integer NOT NULL,
	`begins` integer NOT NULL,
	`max_attempts` integer NOT NULL,
	`failures` integer NOT NULL,
	`run_at` integer,
	`fence` integer NOT NULL,
	`held` integer NOT NULL,
	`node` text,
	`ord` integer NOT NULL,
	`emits` integer NOT NULL,
	`event_count` integer NOT NULL,
	`events_length` integer NOT NULL,
	`unfinished_below` integer NOT NULL,
	`crashes` integer NOT NULL,
	`crash_mark` integer NOT NULL,
	`alone_crashes` integer NOT NULL,
	`pending_question_count` integer NOT NULL,
	`priority` integer NOT NULL,
	`concurrency_key` text,
	`version` text,
	`seed` text NOT NULL,
	`origin_at` integer NOT NULL,
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
	`cut` text,
	`marks` text,
	`inbox` text,
	`metadata` text NOT NULL,
	`input` text,
	`output` text,
	FOREIGN KEY (`log`) REFERENCES `log`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "task_status" CHECK(status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "task_blocked" CHECK(blocked = 0 or (blocked = 1 and status = 'queued' and run_at is null and lane is not null)),
	CONSTRAINT "task_turn" CHECK(is_turn in (0, 1) and (is_turn = 0 or (conversation_id is not null and lane is not null and parent_id is null)) and (is_turn = 1 or message_count = 0)),
	CONSTRAINT "task_root" CHECK((parent_id is null) = (root_id = id) and (parent_id is null) = (spawn_key is null) and (parent_id is null) = (depth = 0)),
	CONSTRAINT "task_finished" CHECK((finished_at is not null) = (status in ('completed', 'failed', 'cancelled'))),
	CONSTRAINT "task_clock" CHECK((running_since is not null) = (status = 'running')),
	CONSTRAINT "task_deadline_while_running" CHECK((deadline_at is not null) = (status = 'running')),
	CONSTRAINT "task_begun_once_run" CHECK((started_at is null) = (attempt = 0)),
	CONSTRAINT "task_runs_under_a_claim" CHECK(status not in ('running', 'waiting', 'completed') or (attempt > 0 and fence > 0)),
	CONSTRAINT "task_begins" CHECK(begins in (0, 1) and (attempt > 0 or begins = 1) and (begins = 0 or status not in ('running', 'waiting', 'completed'))),
	CONSTRAINT "task_failures" CHECK(failures between 0 and max_attempts and (failures < max_attempts or finished_at is not null)),
	CONSTRAINT "task_run_at" CHECK(run_at is null or status = 'queued'),
	CONSTRAINT "task_held_by_a_claim" CHECK(held in (0, 1) and (held = 0 or (status <> 'waiting' and fence > 0)) and (held = 1 or status <> 'running')),
	CONSTRAINT "task_counts" CHECK(ord >= 0 and emits >= 0 and crashes >= 0 and crash_mark >= 0 and alone_crashes >= 0),
	CONSTRAINT "task_limits" CHECK(event_count >= 0 and events_length >= 0 and unfinished_below >= 0 and (unfinished_below = 0 or (parent_id is null and finished_at is null))),
	CONSTRAINT "task_error" CHECK((error is not null) = (status = 'failed')),
	CONSTRAINT "task_cut" CHECK(cut is null or status = 'failed'),
	CONSTRAINT "task_output" CHECK(output is null or status = 'completed'),
	CONSTRAINT "task_open_questions" CHECK(pending_question_count >= 0 and (pending_question_count = 0 or finished_at is null)),
	CONSTRAINT "task_seqs" CHECK(first_seq <= last_seq and pruned_seq <= last_seq),
	CONSTRAINT "task_priority" CHECK(priority between -100 and 100)
);
--> statement-breakpoint
CREATE INDEX `task_by_status` ON `task` (`log`,`status`);--> statement-breakpoint
CREATE INDEX `task_by_agent` ON `task` (`log`,`agent`,`status`);--> statement-breakpoint
CREATE INDEX `task_children` ON `task` (`log`,`parent_id`) WHERE parent_id is not null and finished_at is null;--> statement-breakpoint
CREATE INDEX `task_of_spawn` ON `task` (`log`,`parent_id`,`spawn_key`) WHERE parent_id is not null and finished_at is not null;--> statement-breakpoint
CREATE INDEX `task_of_root` ON `task` (`log`,`root_id`) WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX `task_queue` ON `task` (`log`,priority desc) WHERE status = 'queued' and blocked = 0 and held = 0 and run_at is null and crashes < 2;--> statement-breakpoint
CREATE INDEX `task_suspect` ON `task` (priority desc) WHERE status = 'queued' and blocked = 0 and held = 0 and run_at is null and crashes >= 2;--> statement-breakpoint
CREATE INDEX `task_suspect_running` ON `task` (`running_since`) WHERE status = 'running' and crashes >= 2;--> statement-breakpoint
CREATE INDEX `task_of_conversation` ON `task` (`log`,`conversation_id`,`status`) WHERE conversation_id is not null;--> statement-breakpoint
CREATE INDEX `turn_of_conversation` ON `task` (`log`,`conversation_id`) WHERE is_turn = 1;--> statement-breakpoint
CREATE INDEX `task_lane_queue` ON `task` (`log`,`lane`,priority desc) WHERE status = 'queued' and run_at is null and lane is not null;--> statement-breakpoint
CREATE INDEX `task_lane_head` ON `task` (`log`,`lane`) WHERE status = 'queued' and run_at is null and blocked = 0 and lane is not null;--> statement-breakpoint
CREATE INDEX `task_lane_turn` ON `task` (`log`,`lane`) WHERE is_turn = 1 and finished_at is null;--> statement-breakpoint
CREATE INDEX `task_lane_busy` ON `task` (`log`,`lane`) WHERE held = 1 and lane is not null;--> statement-breakpoint
CREATE INDEX `task_run_at` ON `task` (`run_at`) WHERE run_at is not null;--> statement-breakpoint
CREATE INDEX `task_deadline` ON `task` (`deadline_at`) WHERE deadline_at is not null;--> statement-breakpoint
CREATE INDEX `task_held` ON `task` (`log`) WHERE held = 1;--> statement-breakpoint
CREATE INDEX `root_unfinished` ON `task` (`log`,`first_seq`) WHERE parent_id is null and finished_at is null;--> statement-breakpoint
CREATE INDEX `root_prunable` ON `task` (`finished_at`) WHERE parent_id is null and finished_at is not null and pruned_seq < last_seq;--> statement-breakpoint
CREATE UNIQUE INDEX `task_id` ON `task` (`log`,`id`);