/** The mark: two posts, and water between them. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="7" />
      <path d="M8 5.5v13M16 5.5v13M8 12c2.6-2.6 5.4 2.6 8 0" />
    </svg>
  );
}
