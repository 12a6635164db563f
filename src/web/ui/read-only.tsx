/** Stands where something would be written that the token does not allow. */
export function ReadOnly() {
  return (
    <p class="fine read-only">
      Your token may only read: for more it takes the scope <code>tasks:write</code>.
    </p>
  );
}
