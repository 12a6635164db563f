CREATE TABLE `access_grant` (
	`hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`token_id` text,
	`session_hash` text,
	`owner` text NOT NULL,
	`scopes` text NOT NULL,
	`task_id` text,
	`conversation_id` text,
	`created_at` integer NOT NULL,
	`open_until` integer NOT NULL,
	`ends_at` integer NOT NULL,
	FOREIGN KEY (`session_hash`) REFERENCES `access_grant`(`hash`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `access_grant_closed` ON `access_grant` (`open_until`);--> statement-breakpoint
CREATE INDEX `access_grant_of_session` ON `access_grant` (`session_hash`) WHERE session_hash is not null;--> statement-breakpoint
CREATE TABLE `token` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`owner` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `token_hash_unique` ON `token` (`hash`);