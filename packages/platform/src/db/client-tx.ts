import type pg from 'pg'
import { type Tracing, traced } from '../tracing.ts'
import { parametersOf } from './parameters.ts'
import type { Statement } from './statement.ts'

/** Takes statements whose rows are not read. */
export interface Writes {
  /** Not waited for: it travels with what follows, in this order. When it fails the transaction fails at its end. */
  write(statement: Statement, values?: readonly unknown[]): void
  /** Of the trace in which it writes. */
  readonly traceparent?: string | undefined
}

/** Reads. Rows come back typed as the statement says. */
export interface Queries {
  query<Row>(statement: Statement<Row>, values?: readonly unknown[]): Promise<Row[]>
}

/** A transaction of the service or the operator. */
export interface Tx extends Writes, Queries {}

/** Runs a statement as a span of its name: its text and its values are in no trace. */
export const tracedStatement = <T>(
  tracing: Tracing | undefined,
  name: string,
  work: () => Promise<T>,
): Promise<T> =>
  tracing
    ? traced(
        tracing,
        name,
        { kind: 'client', attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name } },
        work,
      )
    : work()

/** Statements of one transaction, which may travel together; remembers the failure that the others are echoes of. */
export class ClientTx implements Tx {
  readonly #client: pg.PoolClient
  readonly #writing: Promise<unknown>[] = []
  readonly #tracing: Tracing | undefined
  #firstFailure: unknown

  constructor(client: pg.PoolClient, tracing: Tracing | undefined) {
    this.#client = client
    this.#tracing = tracing
  }

  /** The first failure of a statement: those that travelled with it only say that the transaction is aborted. */
  get firstFailure(): unknown {
    return this.#firstFailure
  }

  get traceparent(): string | undefined {
    return this.#tracing?.current()?.traceparent
  }

  async query<Row>({ name, text }: Statement<Row>, values: readonly unknown[] = []): Promise<Row[]> {
    const query = () => this.#client.query({ name, text, values: parametersOf(values) })
    try {
      return (await (this.#tracing ? tracedStatement(this.#tracing, name, query) : query())).rows as Row[]
    } catch (error) {
      this.#firstFailure ??= error
      throw error
    }
  }

  /** Sends COMMIT behind the statements. Resolves to what PostgreSQL did. */
  commit(): Promise<pg.QueryResult> {
    return tracedStatement(this.#tracing, 'COMMIT', () => this.#client.query('commit'))
  }

  write(statement: Statement, values: readonly unknown[] = []): void {
    const writing = this.query(statement, values)
    writing.catch(() => undefined)
    this.#writing.push(writing)
  }

  /** Resolves once every write is done; rejects when one has failed. */
  async written(): Promise<void> {
    await Promise.all(this.#writing.splice(0))
  }
}
