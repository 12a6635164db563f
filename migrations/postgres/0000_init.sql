CREATE SEQUENCE "holdfast"."turns" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "holdfast"."conversation" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."conversation_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"log" bigint NOT NULL,
	"id" text collate "C" NOT NULL,
	"agent" text collate "C",
	"created_at" bigint NOT NULL,
	"last_activity_at" bigint NOT NULL,
	"pruned_seq" bigint NOT NULL,
	"unfinished_roots" integer NOT NULL,
	"deleted_at" bigint,
	"purged" boolean NOT NULL,
	"title" text collate "C",
	"metadata" text collate "C" NOT NULL,
	CONSTRAINT "conversation_id" UNIQUE("log","id"),
	CONSTRAINT "conversation_unfinished" CHECK (unfinished_roots >= 0 and (unfinished_roots = 0 or deleted_at is null)),
	CONSTRAINT "conversation_purged" CHECK (not purged or deleted_at is not null)
);
--> statement-breakpoint
CREATE TABLE "holdfast"."message" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."message_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"log" bigint NOT NULL,
	"id" text collate "C" NOT NULL,
	"conversation" bigint NOT NULL,
	"task" bigint NOT NULL,
	"role" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"metadata" text collate "C" NOT NULL,
	"content" text collate "C" NOT NULL,
	CONSTRAINT "message_id" UNIQUE("log","id"),
	CONSTRAINT "message_role" CHECK (role in ('user', 'assistant')),
	CONSTRAINT "message_status" CHECK (status = 'complete' or (status = 'partial' and role = 'assistant'))
);
--> statement-breakpoint
CREATE TABLE "holdfast"."event" (
	"log" bigint NOT NULL,
	"seq" bigint NOT NULL,
	"task" bigint NOT NULL,
	"root" bigint NOT NULL,
	"conversation" bigint,
	"at" bigint NOT NULL,
	"type" text collate "C" NOT NULL,
	"step" text collate "C",
	"data" text collate "C" NOT NULL,
	CONSTRAINT "event_place" PRIMARY KEY("log","seq")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."idempotency_key" (
	"log" bigint NOT NULL,
	"key" text collate "C" NOT NULL,
	"fingerprint" text collate "C" NOT NULL,
	"at" bigint NOT NULL,
	"result" text collate "C" NOT NULL,
	CONSTRAINT "idempotency_key_key" PRIMARY KEY("log","key")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."log" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."log_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"owner" text collate "C" NOT NULL,
	"head" bigint NOT NULL,
	"pruned_seq" bigint NOT NULL,
	"epoch" text collate "C",
	"claimable" integer NOT NULL,
	"turn" bigint NOT NULL,
	"unfinished_roots" integer NOT NULL,
	"pending_questions" integer NOT NULL,
	"batch" bigint NOT NULL,
	CONSTRAINT "log_owner" UNIQUE("owner"),
	CONSTRAINT "log_claimable_count" CHECK (claimable >= 0),
	CONSTRAINT "log_unfinished" CHECK (unfinished_roots >= 0 and pending_questions >= 0),
	CONSTRAINT "log_marks" CHECK (pruned_seq between 0 and head),
	CONSTRAINT "log_epoch_from_first_event" CHECK ((epoch is null) = (head = 0))
);
--> statement-breakpoint
CREATE TABLE "holdfast"."log_epoch" (
	"log" bigint NOT NULL,
	"epoch" text collate "C" NOT NULL,
	"first_seq" bigint NOT NULL,
	CONSTRAINT "log_epoch_key" PRIMARY KEY("log","first_seq"),
	CONSTRAINT "log_epoch_once" UNIQUE("log","epoch"),
	CONSTRAINT "log_epoch_first_seq" CHECK (first_seq >= 1)
);
--> statement-breakpoint
CREATE TABLE "holdfast"."agent" (
	"node" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"version" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"input_schema" text collate "C" NOT NULL,
	"described_at" bigint NOT NULL,
	CONSTRAINT "agent_key" PRIMARY KEY("node","name")
);
--> statement-breakpoint
CREATE TABLE "holdfast"."duty" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"node" text collate "C" NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast"."epoch" (
	"id" smallint PRIMARY KEY NOT NULL,
	"current" text collate "C" NOT NULL,
	"timeline" text collate "C" NOT NULL,
	"started_at" text collate "C" NOT NULL,
	"xid" bigint NOT NULL,
	CONSTRAINT "epoch_only" CHECK (id = 1)
);
--> statement-breakpoint
CREATE TABLE "holdfast"."node" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"expires_at" bigint NOT NULL,
	"dead_at" bigint
);
--> statement-breakpoint
CREATE TABLE "holdfast"."journal" (
	"task" bigint NOT NULL,
	"key" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"asked_at" bigint NOT NULL,
	"ord" bigint,
	"emits_done" bigint,
	"at" bigint,
	"tries" integer NOT NULL,
	"once" boolean NOT NULL,
	"due_at" bigint,
	"message_id" text collate "C",
	"message_after_seq" bigint,
	"value" text collate "C",
	CONSTRAINT "journal_key" PRIMARY KEY("task","key"),
	CONSTRAINT "journal_status" CHECK (kind = 'step' and status in ('pending', 'done', 'failed') or kind = 'ask' and status in ('pending', 'answered', 'declined', 'expired', 'withdrawn') or kind = 'sleep' and status in ('pending', 'done') or kind = 'inbox' and status in ('done') or kind = 'history' and status in ('done') or kind = 'spawn' and status in ('pending', 'done') or kind = 'child' and status in ('pending', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "journal_key_of_a_child" CHECK ((kind = 'child') = (right(key, 1) = '>')),
	CONSTRAINT "journal_resolved" CHECK ((value is null) = (status = 'pending') and (status <> 'pending' or ord is null or kind = 'spawn')),
	CONSTRAINT "journal_place" CHECK ((status = 'pending' or ord is not null) and (emits_done is null) = (ord is null) and (at is null) = (ord is null)),
	CONSTRAINT "journal_due_while_asleep" CHECK (due_at is null or (kind = 'sleep' and status = 'pending')),
	CONSTRAINT "journal_message_of_a_step" CHECK ((message_id is null) = (message_after_seq is null) and (message_id is null or (kind = 'step' and status = 'pending'))),
	CONSTRAINT "journal_of_steps" CHECK (kind = 'step' or (tries = 0 and not once)),
	CONSTRAINT "journal_counts" CHECK (asked_at >= 0 and ord >= 1 and emits_done >= 0 and tries >= 0)
);
--> statement-breakpoint
CREATE TABLE "holdfast"."question" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."question_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"log" bigint NOT NULL,
	"id" text collate "C" NOT NULL,
	"task" bigint NOT NULL,
	"conversation_id" text collate "C",
	"name" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"asked_at" bigint NOT NULL,
	"expires_at" bigint,
	"resolved_at" bigint,
	"resolved_by" text collate "C",
	"reason" text collate "C",
	"answers" text collate "C",
	"metadata" text collate "C" NOT NULL,
	"items" text collate "C" NOT NULL,
	CONSTRAINT "question_id" UNIQUE("log","id"),
	CONSTRAINT "question_status" CHECK (status in ('pending', 'answered', 'declined', 'expired', 'cancelled')),
	CONSTRAINT "question_resolved" CHECK ((resolved_at is null) = (status = 'pending')),
	CONSTRAINT "question_answers" CHECK ((answers is not null) = (status = 'answered')),
	CONSTRAINT "question_resolved_by" CHECK ((resolved_by is not null) = (status in ('answered', 'declined'))),
	CONSTRAINT "question_reason" CHECK (reason is null and status <> 'cancelled' or status = 'declined' or (status = 'cancelled' and reason in ('cancelled', 'interrupted', 'task_finished', 'withdrawn')))
);
--> statement-breakpoint
CREATE TABLE "holdfast"."task" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "holdfast"."task_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"log" bigint NOT NULL,
	"id" text collate "C" NOT NULL,
	"agent" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"blocked" boolean NOT NULL,
	"parent_id" text collate "C",
	"root_id" text collate "C" NOT NULL,
	"conversation_id" text collate "C",
	"is_turn" boolean NOT NULL,
	"message_count" integer NOT NULL,
	"lane" text collate "C",
	"spawn_key" text collate "C",
	"depth" integer NOT NULL,
	"retry_of" text collate "C",
	"attempt" integer NOT NULL,
	"begins" boolean NOT NULL,
	"max_attempts" integer NOT NULL,
	"failures" integer NOT NULL,
	"run_at" bigint,
	"fence" integer NOT NULL,
	"held" boolean NOT NULL,
	"node" text collate "C",
	"ord" bigint NOT NULL,
	"emits" bigint NOT NULL,
	"event_count" bigint NOT NULL,
	"events_length" bigint NOT NULL,
	"unfinished_below" integer NOT NULL,
	"crashes" integer NOT NULL,
	"crash_mark" bigint NOT NULL,
	"alone_crashes" integer NOT NULL,
	"pending_question_count" integer NOT NULL,
	"priority" integer NOT NULL,
	"concurrency_key" text collate "C",
	"version" text collate "C",
	"seed" text collate "C" NOT NULL,
	"origin_at" bigint NOT NULL,
	"timeout_ms" bigint NOT NULL,
	"ran_ms" bigint NOT NULL,
	"running_since" bigint,
	"deadline_at" bigint,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"finished_at" bigint,
	"first_seq" bigint NOT NULL,
	"last_seq" bigint NOT NULL,
	"pruned_seq" bigint NOT NULL,
	"prunable" boolean GENERATED ALWAYS AS (parent_id is null and finished_at is not null and pruned_seq < last_seq) STORED NOT NULL,
	"progress" text collate "C",
	"error" text collate "C",
	"cut" text collate "C",
	"marks" text collate "C",
	"inbox" text collate "C",
	"metadata" text collate "C" NOT NULL,
	"input" text collate "C",
	"output" text collate "C",
	CONSTRAINT "task_id" UNIQUE("log","id"),
	CONSTRAINT "task_status" CHECK (status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
	CONSTRAINT "task_blocked" CHECK (not blocked or (status = 'queued' and run_at is null and lane is not null)),
	CONSTRAINT "task_turn" CHECK ((not is_turn or (conversation_id is not null and lane is not null and parent_id is null)) and (is_turn or message_count = 0)),
	CONSTRAINT "task_root" CHECK ((parent_id is null) = (root_id = id) and (parent_id is null) = (spawn_key is null) and (parent_id is null) = (depth = 0)),
	CONSTRAINT "task_finished" CHECK ((finished_at is not null) = (status in ('completed', 'failed', 'cancelled'))),
	CONSTRAINT "task_clock" CHECK ((running_since is not null) = (status = 'running')),
	CONSTRAINT "task_deadline_while_running" CHECK ((deadline_at is not null) = (status = 'running')),
	CONSTRAINT "task_begun_once_run" CHECK ((started_at is null) = (attempt = 0)),
	CONSTRAINT "task_runs_under_a_claim" CHECK (status not in ('running', 'waiting', 'completed') or (attempt > 0 and fence > 0)),
	CONSTRAINT "task_begins" CHECK ((attempt > 0 or begins) and (not begins or status not in ('running', 'waiting', 'completed'))),
	CONSTRAINT "task_failures" CHECK (failures between 0 and max_attempts and (failures < max_attempts or finished_at is not null)),
	CONSTRAINT "task_run_at" CHECK (run_at is null or status = 'queued'),
	CONSTRAINT "task_held_by_a_claim" CHECK ((not held or (status <> 'waiting' and fence > 0 and node is not null)) and (held or status <> 'running')),
	CONSTRAINT "task_counts" CHECK (ord >= 0 and emits >= 0 and crashes >= 0 and crash_mark >= 0 and alone_crashes >= 0),
	CONSTRAINT "task_limits" CHECK (event_count >= 0 and events_length >= 0 and unfinished_below >= 0 and (unfinished_below = 0 or (parent_id is null and finished_at is null))),
	CONSTRAINT "task_error" CHECK ((error is not null) = (status = 'failed')),
	CONSTRAINT "task_cut" CHECK (cut is null or status = 'failed'),
	CONSTRAINT "task_output" CHECK (output is null or status = 'completed'),
	CONSTRAINT "task_open_questions" CHECK (pending_question_count >= 0 and (pending_question_count = 0 or finished_at is null)),
	CONSTRAINT "task_seqs" CHECK (first_seq <= last_seq and pruned_seq <= last_seq),
	CONSTRAINT "task_priority" CHECK (priority between -100 and 100)
);
--> statement-breakpoint
ALTER TABLE "holdfast"."conversation" ADD CONSTRAINT "conversation_log_log_id_fk" FOREIGN KEY ("log") REFERENCES "holdfast"."log"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."message" ADD CONSTRAINT "message_log_log_id_fk" FOREIGN KEY ("log") REFERENCES "holdfast"."log"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."message" ADD CONSTRAINT "message_conversation_conversation_key_fk" FOREIGN KEY ("conversation") REFERENCES "holdfast"."conversation"("key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."message" ADD CONSTRAINT "message_task_task_key_fk" FOREIGN KEY ("task") REFERENCES "holdfast"."task"("key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."idempotency_key" ADD CONSTRAINT "idempotency_key_log_log_id_fk" FOREIGN KEY ("log") REFERENCES "holdfast"."log"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."log_epoch" ADD CONSTRAINT "log_epoch_log_log_id_fk" FOREIGN KEY ("log") REFERENCES "holdfast"."log"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."agent" ADD CONSTRAINT "agent_node_node_id_fk" FOREIGN KEY ("node") REFERENCES "holdfast"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."journal" ADD CONSTRAINT "journal_task_task_key_fk" FOREIGN KEY ("task") REFERENCES "holdfast"."task"("key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."question" ADD CONSTRAINT "question_log_log_id_fk" FOREIGN KEY ("log") REFERENCES "holdfast"."log"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."question" ADD CONSTRAINT "question_task_task_key_fk" FOREIGN KEY ("task") REFERENCES "holdfast"."task"("key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "holdfast"."task" ADD CONSTRAINT "task_log_log_id_fk" FOREIGN KEY ("log") REFERENCES "holdfast"."log"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "conversation_by_activity" ON "holdfast"."conversation" USING btree ("log","last_activity_at","key") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "conversation_deleted" ON "holdfast"."conversation" USING btree ("deleted_at") WHERE deleted_at is not null and not purged;--> statement-breakpoint
CREATE INDEX "message_of_conversation" ON "holdfast"."message" USING btree ("conversation","key");--> statement-breakpoint
CREATE INDEX "message_of_task" ON "holdfast"."message" USING btree ("task","key");--> statement-breakpoint
CREATE INDEX "event_of_root" ON "holdfast"."event" USING btree ("root","seq");--> statement-breakpoint
CREATE INDEX "event_of_conversation" ON "holdfast"."event" USING btree ("conversation","seq") WHERE conversation is not null;--> statement-breakpoint
CREATE INDEX "idempotency_key_age" ON "holdfast"."idempotency_key" USING btree ("at");--> statement-breakpoint
CREATE INDEX "log_claimable" ON "holdfast"."log" USING btree ("turn","id") WHERE claimable > 0;--> statement-breakpoint
CREATE INDEX "journal_pending" ON "holdfast"."journal" USING btree ("task") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "journal_due" ON "holdfast"."journal" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "journal_ord" ON "holdfast"."journal" USING btree ("task","ord") WHERE ord is not null;--> statement-breakpoint
CREATE INDEX "question_by_status" ON "holdfast"."question" USING btree ("log","status","key");--> statement-breakpoint
CREATE INDEX "question_of_task" ON "holdfast"."question" USING btree ("task","status","key");--> statement-breakpoint
CREATE INDEX "question_of_conversation" ON "holdfast"."question" USING btree ("log","conversation_id","status","key") WHERE conversation_id is not null;--> statement-breakpoint
CREATE INDEX "question_deadline" ON "holdfast"."question" USING btree ("expires_at") WHERE status = 'pending' and expires_at is not null;--> statement-breakpoint
CREATE INDEX "task_by_status" ON "holdfast"."task" USING btree ("log","status","key");--> statement-breakpoint
CREATE INDEX "task_by_agent" ON "holdfast"."task" USING btree ("log","agent","status","key");--> statement-breakpoint
CREATE INDEX "task_children" ON "holdfast"."task" USING btree ("log","parent_id","key") WHERE parent_id is not null and finished_at is null;--> statement-breakpoint
CREATE INDEX "task_of_spawn" ON "holdfast"."task" USING btree ("log","parent_id","spawn_key","key") WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX "task_of_root" ON "holdfast"."task" USING btree ("log","root_id") WHERE parent_id is not null;--> statement-breakpoint
CREATE INDEX "task_queue" ON "holdfast"."task" USING btree ("log","agent",priority desc,"key") WHERE status = 'queued' and not blocked and not held and run_at is null and crashes < 2;--> statement-breakpoint
CREATE INDEX "task_suspect" ON "holdfast"."task" USING btree (priority desc,"key") WHERE status = 'queued' and not blocked and not held and run_at is null and crashes >= 2;--> statement-breakpoint
CREATE INDEX "task_suspect_running" ON "holdfast"."task" USING btree ("running_since") WHERE status = 'running' and crashes >= 2;--> statement-breakpoint
CREATE INDEX "task_of_conversation" ON "holdfast"."task" USING btree ("log","conversation_id","status","key") WHERE conversation_id is not null;--> statement-breakpoint
CREATE INDEX "turn_of_conversation" ON "holdfast"."task" USING btree ("log","conversation_id","key") WHERE is_turn;--> statement-breakpoint
CREATE INDEX "task_lane_queue" ON "holdfast"."task" USING btree ("log","lane",priority desc,"key") WHERE status = 'queued' and run_at is null and lane is not null;--> statement-breakpoint
CREATE INDEX "task_lane_head" ON "holdfast"."task" USING btree ("log","lane") WHERE status = 'queued' and run_at is null and not blocked and lane is not null;--> statement-breakpoint
CREATE INDEX "task_lane_turn" ON "holdfast"."task" USING btree ("log","lane","key") WHERE is_turn and finished_at is null;--> statement-breakpoint
CREATE INDEX "task_lane_busy" ON "holdfast"."task" USING btree ("log","lane") WHERE held and lane is not null;--> statement-breakpoint
CREATE INDEX "task_run_at" ON "holdfast"."task" USING btree ("run_at") WHERE run_at is not null;--> statement-breakpoint
CREATE INDEX "task_deadline" ON "holdfast"."task" USING btree ("deadline_at") WHERE deadline_at is not null;--> statement-breakpoint
CREATE INDEX "task_held" ON "holdfast"."task" USING btree ("node") WHERE held;--> statement-breakpoint
CREATE INDEX "root_unfinished" ON "holdfast"."task" USING btree ("log","first_seq") WHERE parent_id is null and finished_at is null;--> statement-breakpoint
CREATE INDEX "root_prunable" ON "holdfast"."task" USING btree ("finished_at") WHERE prunable;--> statement-breakpoint
ALTER TABLE "holdfast"."log" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "holdfast"."task" SET (fillfactor = 60);--> statement-breakpoint
ALTER TABLE "holdfast"."journal" SET (fillfactor = 80);
