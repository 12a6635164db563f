import { openTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import type { Played } from '../play.ts';
import { ServerLives, type ServerLivesOptions } from '../server-lives.ts';

/** One of several servers on one database. */
export interface Node {
  server: ServerLives;
  /** Through which it, and nobody else, comes to the database. */
  link: TcpProxy;
}

export interface NodeSetOptions extends Omit<ServerLivesOptions, 'port' | 'storage'> {
  /** Of the nodes, one each. */
  ports: readonly number[];
  /** Where the database's server listens. */
  databasePort: number;
  /** The flags of `serve` by which a node finds the database. @param port where its link listens; @param node counts from 1 */
  storage(port: number, node: number): readonly string[];
}

/** Several servers on one database, behind an address that gives each connection to the next of them. */
export class NodeSet implements Played {
  readonly url: string;
  readonly nodes: readonly Node[];
  readonly #front: TcpProxy;

  private constructor(front: TcpProxy, nodes: readonly Node[]) {
    this.url = `http://127.0.0.1:${front.port}`;
    this.nodes = nodes;
    this.#front = front;
  }

  static async create({ ports, databasePort, storage, ...rest }: NodeSetOptions): Promise<NodeSet> {
    const nodes = ports.map(async (port, index): Promise<Node> => {
      const link = await openTcpProxy([databasePort]);
      return { link, server: new ServerLives({ ...rest, port, storage: storage(link.port, index + 1) }) };
    });
    return new NodeSet(await openTcpProxy(ports), await Promise.all(nodes));
  }

  get isUp(): boolean {
    return this.nodes.every(({ server }) => server.isUp);
  }

  /** Starts those that are down. */
  async start(): Promise<boolean> {
    const serve = await Promise.all(this.nodes.map(({ server }) => server.isUp || server.start()));
    return serve.every((serves) => serves);
  }

  async kill(): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.kill()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.stop()));
  }

  /** Kills what is left, and takes the addresses away. */
  async close(): Promise<void> {
    await this.kill();
    await Promise.all([this.#front.close(), ...this.nodes.map(({ link }) => link.close())]);
  }
}
