import { setTimeout as sleep } from 'node:timers/promises'
import { ByTenant } from '@svc/kernel/by-tenant'
import type { BatchTx, CommandSpec, PreparedCommand } from '@svc/platform/db/batch'
import { CommitQueue } from '@svc/platform/db/commit-queue'
import { type RowLock, rowLock } from '@svc/platform/db/row-lock'
import { columns, statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

interface Note extends PreparedCommand {
  readonly line: number
}

const PAGE: RowLock<object> = rowLock('test_pages', {
  select: '1 as one',
  from: 'from pages where tenant_id = any ($1) order by tenant_id',
  tenant: 'tenant_id',
  id: 'tenant_id',
  of: 'pages',
})
const WRITE = statement(
  'test_notes',
  'insert into notes (tenant_id, line) select * from unnest($1::text[], $2::integer[])',
)

let service: TestService
/** Called before each attempt of a batch locks anything, with the commands of the attempt. */
let beforeLock: (notes: readonly Note[]) => Promise<void>

/** The simplest command: locks its tenant's page, and writes its line to it. A line under zero cannot be written. */
const NOTES: CommandSpec<Note, undefined, Note> = {
  name: 'test_notes',
  async lock(tx: BatchTx, notes) {
    await beforeLock(notes)
    const tenants = [...new Set(notes.map((note) => note.tenantId))]
    await tx.lock(PAGE, [tenants], tenants.length)
    return new ByTenant(() => undefined)
  },
  decide: (_, note) => note,
  apply: () => undefined,
  save(tx, notes) {
    tx.write(
      WRITE,
      columns(
        notes,
        (note) => note.tenantId,
        (note) => note.line,
      ),
    )
  },
}

beforeAll(async () => {
  service = await openService()
  await asSuperuser(service.db.database, (admin) =>
    admin.query(`create table pages (tenant_id text primary key);
      create table notes (position bigserial, tenant_id text references pages, line integer check (line >= 0));
      insert into pages select 't' || n from generate_series(0, 7) n;
      grant select, insert, update on pages, notes to svc_service; grant usage on sequence notes_position_seq to svc_service`),
  )
})
beforeEach(async () => {
  beforeLock = () => Promise.resolve()
  await asSuperuser(service.db.database, (admin) => admin.query('truncate notes'))
})
afterAll(() => service.close())

/** One after the other, each as in a process of its own. */
const newQueue = () => new CommitQueue(NOTES, { ...service.app.services.queues, open: new Set() })

async function linesOf(tenantId: string): Promise<number[]> {
  const { rows } = await asSuperuser(service.db.database, (admin) =>
    admin.query<{ line: number }>('select line from notes where tenant_id = $1 order by position', [
      tenantId,
    ]),
  )
  return rows.map((row) => row.line)
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, line) => line)

test('commands of a tenant are executed in the order in which they arrived, whatever others send', async () => {
  const queue = newQueue()
  const sent: Promise<unknown>[] = []
  for (const n of upTo(1_600)) {
    sent.push(queue.submit({ tenantId: `t${n % 8}`, line: n }))
    if (n % 50 === 0) await sleep(1)
  }
  await Promise.all(sent)
  for (const tenant of upTo(8))
    expect(await linesOf(`t${tenant}`)).toEqual(upTo(1_600).filter((n) => n % 8 === tenant))
})

test('a batch has no more commands of a kind of large commands than its limit', async () => {
  const sizes: number[] = []
  beforeLock = async (notes) => void sizes.push(notes.length)
  const services = { ...service.app.services.queues, open: new Set<never>() }
  const queue = new CommitQueue({ ...NOTES, batchMax: 2 }, services)
  await Promise.all(upTo(9).map((line) => queue.submit({ tenantId: `t${line % 8}`, line })))
  expect([Math.max(...sizes), sizes.reduce((sum, size) => sum + size)]).toEqual([2, 9])
})

test('a tenant whose rows are locked keeps its order, and delays no other tenant', async () => {
  const queue = newQueue()
  await asSuperuser(service.db.database, async (admin) => {
    await admin.query(`begin; select from pages where tenant_id = 't0' for update`)
    const held = upTo(600).map((line) => queue.submit({ tenantId: 't0', line }))
    await Promise.all(upTo(600).map((line) => queue.submit({ tenantId: 't1', line })))
    expect(await linesOf('t0')).toEqual([])
    await admin.query('rollback')
    await Promise.all(held)
  })
  expect(await linesOf('t0')).toEqual(upTo(600))
  expect(await linesOf('t1')).toEqual(upTo(600))
})

test('a batch that was split keeps its order when rows become locked between its parts', async () => {
  const queue = newQueue()
  await asSuperuser(service.db.database, async (admin) => {
    let released: Promise<unknown> | undefined
    beforeLock = async (notes) => {
      const isFirstPart = notes.length > 1 && notes.length < 63 && notes[0]!.line === 1
      if (!isFirstPart || released) return
      await admin.query(`begin; select from pages where tenant_id = 't2' for update`)
      released = sleep(500).then(() => admin.query('rollback'))
    }
    const lines = upTo(64).map((line) => (line === 40 ? -1 : line))
    const responses = await Promise.allSettled(lines.map((line) => queue.submit({ tenantId: 't2', line })))
    await released
    expect(released).toBeDefined()
    expect(responses.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(responses[40]!.status).toBe('rejected')
  })
  expect(await linesOf('t2')).toEqual(upTo(64).filter((line) => line !== 40))
})

test('draining resolves after every accepted command was executed and got its response', async () => {
  const queue = newQueue()
  let responded = 0
  const sent = upTo(500).map((line) => queue.submit({ tenantId: 't3', line }).then(() => responded++))
  await queue.drain()
  expect(responded).toBe(500)
  expect(await linesOf('t3')).toEqual(upTo(500))
  await Promise.all(sent)
})

test('a rejected statement prevents the COMMIT behind it, and the connection stays usable', async () => {
  const queue = newQueue()
  await expect(queue.submit({ tenantId: 't4', line: -1 })).rejects.toThrow('notes_line_check')
  await queue.submit({ tenantId: 't4', line: 1 })
  expect(await linesOf('t4')).toEqual([1])
  const { rows } = await asSuperuser(service.db.database, (admin) =>
    admin.query<{ n: number }>(
      `select count(*)::integer as n from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`,
    ),
  )
  expect(rows[0]!.n).toBe(0)
})

test('a response is delivered while the next batch waits for its locks', async () => {
  const queue = newQueue()
  let open = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  beforeLock = async ([note]) => {
    if (note!.line === 0) void queue.submit({ tenantId: 't5', line: 1 }).then(() => reported.push(1))
    else await gate
  }
  const reported: number[] = []
  await queue.submit({ tenantId: 't5', line: 0 })
  expect(await linesOf('t5')).toEqual([0])
  open()
  await queue.drain()
  expect(reported).toEqual([1])
  expect(await linesOf('t5')).toEqual([0, 1])
})

test('commands that arrive while a batch is in flight wait for it, and go together', async () => {
  const queue = newQueue()
  const sizes: number[] = []
  let letGo = () => {}
  const kept = new Promise<void>((resolve) => (letGo = resolve))
  const begun = new Promise<void>((resolve) => {
    beforeLock = (notes) => {
      sizes.push(notes.length)
      resolve()
      return kept
    }
  })
  const first = queue.submit({ tenantId: 't0', line: 0 })
  await begun
  const others = upTo(24).map((line) => queue.submit({ tenantId: `t${line % 6}`, line }))
  letGo()
  await Promise.all([first, ...others])
  expect(sizes).toEqual([1, 24])
})
