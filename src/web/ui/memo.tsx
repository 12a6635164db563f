import { Component, type ComponentChildren, type ComponentClass } from 'preact';

/** A component that is rendered again only when its props are not the same: each the same object, unless told otherwise. */
export function memo<P extends object>(
  render: (props: P) => ComponentChildren,
  isSame: (before: Readonly<P>, after: Readonly<P>) => boolean = areSame,
): ComponentClass<P> {
  // The hooks that it uses, and the signals that it reads, are its own.
  const Inner = (props: P) => render(props);
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !isSame(this.props, next);
    }
    override render() {
      return <Inner {...this.props} />;
    }
  };
}

function areSame<P extends object>(before: Readonly<P>, after: Readonly<P>): boolean {
  const was = new Map(Object.entries(before));
  const is = Object.entries(after);
  return was.size === is.length && is.every(([name, value]) => Object.is(value, was.get(name)));
}
