CREATE TABLE "holdfast_access"."access_grant" (
	"hash" text collate "C" PRIMARY KEY NOT NULL,
	"kind" text collate "C" NOT NULL,
	"token_id" text collate "C",
	"session_hash" text collate "C",
	"owner" text collate "C" NOT NULL,
	"scopes" text collate "C" NOT NULL,
	"task_id" text collate "C",
	"conversation_id" text collate "C",
	"created_at" bigint NOT NULL,
	"open_until" bigint NOT NULL,
	"ends_at" bigint NOT NULL,
	CONSTRAINT "access_grant_kind" CHECK (kind in ('ticket', 'session'))
);
--> statement-breakpoint
CREATE TABLE "holdfast_access"."endings" (
	"id" smallint PRIMARY KEY NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "endings_only" CHECK (id = 1)
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "holdfast_access"."request_window" (
	"owner" text collate "C" PRIMARY KEY NOT NULL,
	"ends_at" bigint NOT NULL,
	"count" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "holdfast_access"."token" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"hash" text collate "C" NOT NULL,
	"owner" text collate "C" NOT NULL,
	"scopes" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint,
	"last_used_at" bigint,
	"revoked_at" bigint,
	CONSTRAINT "token_hash" UNIQUE("hash")
);
--> statement-breakpoint
ALTER TABLE "holdfast_access"."access_grant" ADD CONSTRAINT "access_grant_session_hash_access_grant_hash_fk" FOREIGN KEY ("session_hash") REFERENCES "holdfast_access"."access_grant"("hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_grant_closed" ON "holdfast_access"."access_grant" USING btree ("open_until");--> statement-breakpoint
CREATE INDEX "access_grant_of_session" ON "holdfast_access"."access_grant" USING btree ("session_hash") WHERE session_hash is not null;--> statement-breakpoint
CREATE INDEX "request_window_over" ON "holdfast_access"."request_window" USING btree ("ends_at");--> statement-breakpoint
INSERT INTO "holdfast_access"."endings" ("id", "count") VALUES (1, 0);
