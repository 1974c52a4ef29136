import type { Writes } from '@svc/platform/db/database'
import {
  bytes,
  day,
  generated,
  instant,
  integer,
  json,
  type NewRowOf,
  nullable,
  type RowOf,
  secret,
  stamped,
  table,
  text,
  textOf,
  texts,
} from '@svc/platform/db/table'
import { expect, test } from 'vitest'

const tickets = table('test_tickets', 't', ['tenantId', 'ticketId'], {
  tenantId: text,
  ticketId: text,
  status: textOf<'OPEN' | 'CLOSED'>(),
  labels: nullable(json<readonly string[]>()),
  digest: secret(bytes),
  uses: generated(integer),
  createdAt: instant,
})
type Ticket = RowOf<typeof tickets>
type NewTicket = NewRowOf<typeof tickets>

const now = new Date(0)
const ticket: Ticket = {
  tenantId: 'mer_1',
  ticketId: 'tic_1',
  status: 'OPEN',
  labels: null,
  uses: 0,
  createdAt: now,
}
const newTicket: NewTicket = {
  tenantId: 'mer_1',
  ticketId: 'tic_1',
  status: 'OPEN',
  labels: ['a'],
  digest: Buffer.from('d'),
  createdAt: now,
}

/** What a table writes. */
function written(write: (tx: Writes) => void): { text: string; values: readonly unknown[] }[] {
  const statements: { text: string; values: readonly unknown[] }[] = []
  write({
    write: ({ text }, values = []) => void statements.push({ text: text.replace(/\s+/g, ' '), values }),
  })
  return statements
}

test('a select reads every column except secret ones, under the names of the code', () => {
  expect(tickets.columns).toBe(
    't.tenant_id as "tenantId", t.ticket_id as "ticketId", t.status as "status", t.labels as "labels", ' +
      't.uses as "uses", t.created_at as "createdAt"',
  )
})

test('an insert names its columns on both sides, in one order, and omits those that a default fills', () => {
  const names = 'tenant_id, ticket_id, status, labels, digest, created_at'
  expect(written((tx) => tickets.insert(tx, [newTicket]))).toEqual([
    {
      text:
        `insert into test_tickets (${names}) select * from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[], ` +
        `$5::bytea[], $6::timestamptz[]) as given (${names}) order by tenant_id, ticket_id`,
      values: [['mer_1'], ['tic_1'], ['OPEN'], ['["a"]'], [Buffer.from('d')], [now]],
    },
  ])
})

test('a day is sent as a date and read as text, and rows are inserted in the stated order', () => {
  const visits = table(
    'test_visits',
    'v',
    ['tenantId', 'visitId'],
    { tenantId: text, visitId: text, number: text, visitDay: day, leftDay: nullable(day) },
    ['tenantId', 'number'],
  )
  expect(visits.columns).toContain('v.visit_day::text as "visitDay", v.left_day::text as "leftDay"')
  const visit = { tenantId: 'mer_1', visitId: 'vis_1', number: '7', visitDay: '2027-01-31', leftDay: null }
  const names = 'tenant_id, visit_id, number, visit_day, left_day'
  expect(written((tx) => visits.insert(tx, [visit]))).toEqual([
    {
      text:
        `insert into test_visits (${names}) select * from unnest($1::text[], $2::text[], $3::text[], $4::date[], ` +
        `$5::date[]) as given (${names}) order by tenant_id, number`,
      values: [['mer_1'], ['vis_1'], ['7'], ['2027-01-31'], [null]],
    },
  ])
})

test('a stamped column gets the time of the database', () => {
  const stamps = table('test_stamps', 's', ['tenantId'], { tenantId: text, createdAt: stamped(instant) })
  expect(written((tx) => stamps.insert(tx, [{ tenantId: 'mer_1' }]))).toEqual([
    {
      text:
        'insert into test_stamps (tenant_id, created_at) select *, clock_timestamp() ' +
        'from unnest($1::text[]) as given (tenant_id) order by tenant_id',
      values: [['mer_1']],
    },
  ])
})

test('lists of texts are sent as text, whatever they contain, and rows in their own order where that is stated', () => {
  const boxes = table(
    'test_boxes',
    'b',
    ['tenantId'],
    { tenantId: text, tags: texts(), notes: nullable(texts()) },
    [],
  )
  const rows = [
    { tenantId: 'mer_2', tags: ['a', 'b,c', '"d" \\ {e}'], notes: null },
    { tenantId: 'mer_1', tags: [], notes: ['', 'null'] },
  ]
  const values = [
    ['mer_2', 'mer_1'],
    ['{"a","b,c","\\"d\\" \\\\ {e}"}', '{}'],
    [null, '{"","null"}'],
  ]
  const from = 'from unnest($1::text[], $2::text[], $3::text[]) as given (tenant_id, tags, notes)'
  expect(written((tx) => boxes.insert(tx, rows))).toEqual([
    {
      text: `insert into test_boxes (tenant_id, tags, notes) select given.tenant_id, given.tags::text[], given.notes::text[] ${from} `,
      values,
    },
  ])
  const save = boxes.updates(['tags', 'notes'])
  expect(written((tx) => save(tx, rows))).toEqual([
    {
      text: `update test_boxes b set tags = given.tags::text[], notes = given.notes::text[] ${from} where b.tenant_id = given.tenant_id`,
      values,
    },
  ])
})

test('an update finds rows by the whole key, the tenant included', () => {
  const close = tickets.updates(['status', 'labels'], 'close')
  expect(written((tx) => close(tx, [{ ...ticket, status: 'CLOSED' }]))).toEqual([
    {
      text:
        'update test_tickets t set status = given.status, labels = given.labels from unnest($1::text[], $2::text[], ' +
        '$3::text[], $4::jsonb[]) as given (tenant_id, ticket_id, status, labels) ' +
        'where t.tenant_id = given.tenant_id and t.ticket_id = given.ticket_id',
      values: [['mer_1'], ['tic_1'], ['CLOSED'], [null]],
    },
  ])
})

test('nothing is written for an empty list of rows', () => {
  expect(written((tx) => tickets.insert(tx, []))).toEqual([])
})

test('locks lock rows in order of their id, and state their tenant and id', () => {
  const lock = tickets.lock<{ readonly owner: string }>('to_close', {
    select: 'o.name as "owner"',
    joins: 'join o using (ticket_id)',
  })
  expect(lock.wait.text.replace(/\s+/g, ' ')).toBe(
    `select t.tenant_id as lock_tenant, t.ticket_id as lock_id, ${tickets.columns}, o.name as "owner" ` +
      'from test_tickets t join o using (ticket_id) where (t.tenant_id, t.ticket_id) in ' +
      '(select * from unnest($1::text[], $2::text[])) order by t.ticket_id for no key update of t',
  )
})

/** Never run: the type checker holds each line to its error. */
export const doesNotCompile = (tx: Writes): void => {
  const { digest: _, ...forgotten } = newTicket
  // @ts-expect-error -- a column is forgotten
  tickets.insert(tx, [forgotten])
  // @ts-expect-error -- the values of two columns are swapped
  tickets.insert(tx, [{ ...newTicket, status: newTicket.ticketId, ticketId: newTicket.status }])
  // @ts-expect-error -- a default fills this column
  tickets.insert(tx, [{ ...newTicket, uses: 1 }])
  // @ts-expect-error -- there is no such column
  tickets.updates(['state'], 'state')
  // @ts-expect-error -- a key is never updated
  tickets.updates(['tenantId'], 'tenant')
  // @ts-expect-error -- the update's column is missing in the row
  tickets.updates(['status'], 'status')(tx, [{ tenantId: 'mer_1', ticketId: 'tic_1' }])
  // @ts-expect-error -- a secret is never read
  void ticket.digest
  // @ts-expect-error -- a row is named by its tenant too
  tickets.keys([{ ticketId: 'tic_1' }])
}
