import { setTimeout as sleep } from 'node:timers/promises'
import { connectCell } from '@svc/app/cells/cell-connection'
import { NOT_REPLICATED, tenantTables } from '@svc/app/cells/moved-tables'
import { checkInvariants } from '@svc/console-api/invariants'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { linkMerchant } from '@svc/core/tenants/merchant'
import { calendarDay } from '@svc/kernel/time'
import { verifyChains } from '@svc/platform/audit-chain'
import { causeAtHome, isTenantAway } from '@svc/platform/db/home'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newIdentity, Terminal } from '../harness/card-rail.ts'
import { openCells, type TestCells } from '../harness/cells.ts'
import { runHere } from '../harness/cli.ts'
import { payloadOf } from '../harness/client.ts'
import { newRefundAndDispute, utrOf } from '../harness/disputes.ts'
import { payAt } from '../harness/invoices.ts'
import { at, brokenOff, MOVES_MS, moveBy, onCell, tokenOf } from '../harness/moves.ts'
import { operatorsOf } from '../harness/operators.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount, giveFee, sendPayoutOf } from '../harness/payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, RAIL_KEY, type TestService } from '../harness/service.ts'

let cells: TestCells
beforeAll(async () => {
  cells = await openCells()
})
afterAll(() => cells.close())

const move = (tenantId: string, from: 'a' | 'b', ...options: string[]) =>
  moveBy(cells, tenantId, from, ...options)

/** Everything that must be true of a cell, whatever happened. */
async function requireWhole({ app }: TestService): Promise<void> {
  const broken = (await checkInvariants(app.services.database)).filter(
    ({ violations }) => violations.length > 0,
  )
  expect(broken).toEqual([])
  expect(await verifyChains((work) => app.services.database.report(work))).toMatchObject({ whole: true })
}

/** A caller that creates codes without a pause, wherever the tenant is served, and repeats what was not carried out. */
class Orders {
  readonly acknowledged: string[] = []
  readonly statuses = new Set<number>()
  longestMs = 0
  #stopped = false
  #running: Promise<void>[] = []
  readonly #authorization: { authorization: string }

  constructor(authorization: { authorization: string }) {
    this.#authorization = authorization
  }

  start(): void {
    this.#running = [1, 2].map(() => this.#circle())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  async #circle(): Promise<void> {
    let services = [cells.a, cells.b]
    let lastMs = performance.now()
    while (!this.#stopped) {
      const key = crypto.randomUUID()
      for (;;) {
        const response = await at(services[0]!, this.#authorization).post(
          '/api/v0/qr-code',
          { referenceNumber: key },
          { 'idempotency-key': key },
        )
        this.statuses.add(response.status)
        if (response.status === 200) {
          this.acknowledged.push(payloadOf(response).qrCodeId)
          break
        }
        if (response.status === 421) services = services.toReversed()
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - lastMs)
      lastMs = performance.now()
    }
  }
}

const codesAt = (service: TestService, merchantId: string): Promise<string[]> =>
  asSuperuser(service.db.database, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'select qr_code_id as id from qr_codes where merchant_id = $1',
      [merchantId],
    )
    return rows.map(({ id }) => id).toSorted()
  })

test(
  'a merchant moves there and back under load: what was acknowledged is there once, and its previous home neither serves nor writes',
  async () => {
    const merchant = await cells.a.newMerchant()
    const token = await tokenOf(cells.a, merchant)
    const orders = new Orders(token)
    orders.start()
    for (const from of ['a', 'b'] as const) {
      const moved = await move(merchant.merchantId, from)
      expect(moved, moved.stderr).toMatchObject({ code: 0 })
    }
    await orders.stop()
    // For people who measure: how long it was from one acknowledgement of a caller to its next at most.
    console.info(
      `${orders.acknowledged.length} acknowledged; the longest pause was ${Math.round(orders.longestMs)} ms`,
    )
    expect([...orders.statuses].filter((status) => ![200, 421, 503].includes(status))).toEqual([])
    expect(await codesAt(cells.a, merchant.merchantId)).toEqual(orders.acknowledged.toSorted())
    expect(await codesAt(cells.b, merchant.merchantId)).toEqual([])

    const gone = await at(cells.b, token).post('/api/v0/qr-code', {})
    expect(gone).toMatchObject({ status: 421 })
    expect(gone.text).toContain('is served by the cell a')
    const key = { 'api-key': merchant.apiKey }
    const tokens = [cells.a, cells.b].map(({ client }) =>
      client.post('/api/v0/merchant/token', undefined, key),
    )
    expect(await Promise.all(tokens)).toMatchObject([{ status: 200 }, { status: 421 }])
    const written = asSuperuser(cells.b.db.database, (client) =>
      client.query(`insert into event_counters (tenant_id, last_sequence) values ($1, 1)`, [
        merchant.merchantId,
      ]),
    )
    await expect(written).rejects.toThrow('is not served here now')
    await requireWhole(cells.a)
    await requireWhole(cells.b)
    const homes = await asSuperuser(cells.a.db.database, (client) =>
      client.query('select cell from tenant_homes'),
    )
    expect(homes.rows).toEqual([{ cell: 'a' }])
  },
  MOVES_MS,
)

test(
  'a partner moves with its cards and the merchants linked to it; a linked merchant alone does not',
  async () => {
    const partner = await newPartner(cells.a)
    const merchant = await cells.a.newMerchant()
    const { database } = cells.a.app.services
    await database.operate((tx) => linkMerchant(tx, merchant.merchantId, partner.partnerId))
    const before = await asPartner(cells.a.client, partner)
    const { svcCardId } = payloadOf(await createCard(before, partner, { loadAmount: 100 }))

    const alone = await move(merchant.merchantId, 'a', '--dry-run')
    expect(alone.code).toBe(1)
    expect(JSON.parse(alone.stdout).obstacles).toContain(
      `reads the coin configurations of ${partner.partnerId}`,
    )
    const planned = await move(partner.partnerId, 'a', '--dry-run')
    expect(JSON.parse(planned.stdout)).toMatchObject({
      tenants: `${partner.partnerId} ${merchant.merchantId}`,
      obstacles: 'none',
    })
    const moved = await move(partner.partnerId, 'a')
    expect(moved, moved.stderr).toMatchObject({ code: 0 })

    const after = await asPartner(cells.b.client, partner)
    const card = payloadOf(await createCard(after, partner, { loadAmount: 100 }))
    expect(card.svcCardId).not.toBe(svcCardId)
    const cards = await asSuperuser(cells.b.db.database, (client) =>
      client.query<{ id: string }>('select svc_card_id as id from cards order by 1'),
    )
    expect(cards.rows.map(({ id }) => id)).toEqual([svcCardId, card.svcCardId])
    await requireWhole(cells.a)
    await requireWhole(cells.b)
  },
  MOVES_MS,
)

test(
  'a merchant moves with its fees, refunds, disputes, settled batches, payouts, a sweep and a year end; the books of both cells stay whole',
  async () => {
    const { client, merchantId, paymentId } = await shopWith(cells.a, 500)
    await giveAccount(cells.a, merchantId)
    await giveFee(cells.a, merchantId, { basisPoints: 100 })
    await newRefundAndDispute(cells.a, client, paymentId)
    const { tr } = await newCode(cells.a, client, { multipleUse: true })
    const { utr } = payloadOf(await notifyCredit(cells.a.client, creditOf(tr, { amount: 300 })))
    const batch = {
      batchUtr: newUtr(),
      valueDate: new Date().toISOString(),
      netAmount: 798,
      lines: [
        { kind: 'payment', reference: await utrOf(cells.a, paymentId), amount: 500 },
        { kind: 'payment', reference: utr, amount: 300 },
        { kind: 'payment', reference: newUtr(), amount: 5 },
        { kind: 'charge', amount: -7 },
      ],
    }
    payloadOf(await cells.a.client.notify('/rails/upi/settlements', batch, RAIL_KEY))
    const payoutId = await sendPayoutOf(cells.a, merchantId)
    const paid = { merchantId, payoutId, step: { to: 'PAID', utr: newUtr() } } as const
    await operatorsOf(cells.a.app.services.commands).open(changePayout).run(paid)
    const through = calendarDay(new Date(), 'Asia/Kolkata')
    const sweep = ['books', 'sweep', '--through', through, '--reference', newUtr(), '--reason', 'monthly']
    const swept = await runHere(['admin', ...sweep], cells.settings('a'))
    expect(swept, swept.stderr).toMatchObject({ code: 0 })
    await payAt(cells.a, { merchantId, tr }, 100, '2020-05-15T12:00:00+05:30')
    await accrueDueFees(cells.a.app.services)
    const ended = await runHere(
      ['admin', 'books', 'year-end', '--year', '2020-21', '--reason', 'accounts'],
      cells.settings('a'),
    )
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    await requireWhole(cells.a)

    for (const from of ['a', 'b'] as const) {
      const moved = await move(merchantId, from)
      expect(moved, moved.stderr).toMatchObject({ code: 0 })
      await requireWhole(cells.a)
      await requireWhole(cells.b)
    }
  },
  MOVES_MS,
)

test(
  'a notice or message of a tenant that moved is carried out where it lives, and one of no cell is kept where it came',
  async () => {
    const { client, merchantId, paymentId } = await shopWith(cells.a, 500)
    const { refundId } = await newRefundAndDispute(cells.a, client, paymentId)
    const { tr, qrCodeId } = await newCode(cells.a, client, { multipleUse: true })
    await client.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {})
    const late = creditOf(tr, { amount: 300 })
    expect(payloadOf(await notifyCredit(cells.a.client, late))).toMatchObject({ status: 'REFUND_PENDING' })
    const utr = await utrOf(cells.a, paymentId)
    const moved = await move(merchantId, 'a')
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    const partner = await newPartner(cells.b)
    const issued = await createCard(await asPartner(cells.b.client, partner), partner, { loadAmount: 100 })
    const card = payloadOf(issued)

    const notify = async (path: string, notice: object) => cells.a.client.notify(path, notice, RAIL_KEY)
    const credited = payloadOf(await notifyCredit(cells.a.client, creditOf(tr, { amount: 20 })))
    expect(credited).toMatchObject({ status: 'REFUND_PENDING', reason: 'qr_code_cancelled' })
    expect(payloadOf(await notify('/rails/upi/refunds', { utr: late.utr })).status).toBe('REFUNDED')
    const made = { refundId, status: 'REFUNDED' }
    expect(payloadOf(await notify('/rails/upi/refunds', made)).status).toBe('REFUNDED')
    const dispute = { caseReference: newUtr(), utr, amount: 2 }
    expect(payloadOf(await notify('/rails/upi/disputes', dispute))).toMatchObject({ paymentId })
    // Encrypted: no router can read which card it is of.
    const asked = { ...newIdentity(), token: card.token, amount: 60, channel: 'pos' }
    const terminal = new Terminal(cells.a.client, card.token)
    const authorization = payloadOf(await terminal.sendEncrypted('authorizations', asked))
    expect(authorization).toMatchObject({ status: 'approved', svcCardId: card.svcCardId })

    const unknown = await notify('/rails/upi/refunds', { utr: newUtr() })
    expect(unknown.status).toBe(202)
    const kept = (service: TestService) =>
      asSuperuser(service.db.database, async (db) => {
        const { rows } = await db.query<{ id: string }>(
          `select notice_id as id from rail_notices where status = 'QUARANTINED'`,
        )
        return rows.map(({ id }) => id)
      })
    expect(await kept(cells.a)).toEqual([unknown.json.payload.noticeId])
    expect(await kept(cells.b)).toEqual([])
    await requireWhole(cells.a)
    await requireWhole(cells.b)
  },
  MOVES_MS,
)

test(
  'while a tenant arrives in a cell, what is sent there is carried out where the tenant still lives',
  async () => {
    const { client, merchantId, paymentId } = await shopWith(cells.a, 500)
    const { refundId } = await newRefundAndDispute(cells.a, client, paymentId)
    await brokenOff(cells, merchantId, (line) => /^(\d+) of \1 tables copied/.test(line))
    const made = { refundId, status: 'REFUNDED' }
    const notified = await cells.b.client.notify('/rails/upi/refunds', made, RAIL_KEY)
    expect(payloadOf(notified).status).toBe('REFUNDED')
    const aborted = await move(merchantId, 'a', '--abort')
    expect(aborted, aborted.stderr).toMatchObject({ code: 0 })
    await requireWhole(cells.a)
    await requireWhole(cells.b)
  },
  MOVES_MS,
)

test(
  'a move that breaks off leaves the tenant served, ends where it was aborted, and goes on where it was',
  async () => {
    const merchant = await cells.a.newMerchant()
    const { merchantId } = merchant
    const served = async (service: TestService) =>
      (await at(service, await tokenOf(service, merchant)).post('/api/v0/qr-code', {})).status

    await brokenOff(cells, merchantId, (line) => line.includes('tables copied'))
    expect(await served(cells.a)).toBe(200)
    const aborted = await move(merchantId, 'a', '--abort')
    expect(aborted, aborted.stderr).toMatchObject({ code: 0 })
    expect(await served(cells.a)).toBe(200)
    expect(await codesAt(cells.b, merchantId)).toEqual([])

    await brokenOff(cells, merchantId, (line) => line.includes('tables copied'))
    await brokenOff(cells, merchantId, (line) => line === 'routed')
    expect(await served(cells.b)).toBe(200)
    expect((await move(merchantId, 'a', '--abort')).stderr).toContain('run it again to finish it')
    const finished = await move(merchantId, 'a')
    expect(finished, finished.stderr).toMatchObject({ code: 0 })
    expect(await codesAt(cells.a, merchantId)).toEqual([])
    expect(await codesAt(cells.b, merchantId)).toHaveLength(3)
    const left = await asSuperuser(cells.a.db.database, (client) =>
      client.query(
        `select slot_name from pg_replication_slots where slot_type = 'logical' and database = current_database() union all
       select pubname from pg_publication`,
      ),
    )
    expect(left.rows).toEqual([])
    await requireWhole(cells.a)
    await requireWhole(cells.b)
  },
  MOVES_MS,
)

test(
  'a move is aborted although a long transaction holds its copies up',
  async () => {
    const { merchantId } = await cells.a.newMerchant()
    const aborted = await asSuperuser(cells.a.db.database, async (client) => {
      await brokenOff(cells, merchantId, (line) => line.includes('tables copied'))
      await client.query('begin; select txid_current()')
      const waits = `select from pg_stat_activity where backend_type = 'walsender' and wait_event_type = 'Lock'`
      // By connections of their own: within a transaction the activity stays as it was read first.
      const isWaiting = () => asSuperuser('postgres', async (db) => (await db.query(waits)).rowCount! > 0)
      while (!(await isWaiting())) await sleep(20)
      return move(merchantId, 'a', '--abort')
    })
    expect(aborted, aborted.stderr).toMatchObject({ code: 0 })
    const left = await asSuperuser(cells.a.db.database, (client) =>
      client.query(`select from pg_replication_slots where slot_name ~ '_sync_' or slot_name ~ $1`, [
        merchantId,
      ]),
    )
    expect(left.rowCount).toBe(0)
  },
  MOVES_MS,
)

test(
  'a move waits, while the tenant is served, for the lease of a process that died',
  async () => {
    const merchant = await cells.a.newMerchant()
    const { merchantId } = merchant
    const client = at(cells.a, await tokenOf(cells.a, merchant))
    payloadOf(await client.post('/api/v0/webhook-endpoints', { url: 'http://127.0.0.1:8009/' }))
    await onCell(
      cells.a,
      `insert into webhook_leases (tenant_id, endpoint_id, holder, until)
       select tenant_id, endpoint_id, 'dead', clock_timestamp() + interval '25 seconds'
       from webhook_endpoints where tenant_id = $1`,
      [merchantId],
    )
    const moved = await move(merchantId, 'a', '--hold', '2000')
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    const holds = moved.stderr.match(/held once more/g)?.length
    expect([1, 2, 3]).toContain(holds)
  },
  MOVES_MS,
)

test(
  'a move says that the other cell refuses rows, and goes on once the cause is removed',
  async () => {
    const merchant = await cells.a.newMerchant()
    const { merchantId } = merchant
    await at(cells.a, await tokenOf(cells.a, merchant)).post('/api/v0/qr-code', {})
    await onCell(cells.b, 'alter table svc.qr_codes add constraint refused check (false) not valid')
    const refused = await move(merchantId, 'a')
    expect(refused.stderr).toContain('The cell b refuses rows of the tenant')
    await onCell(cells.b, 'alter table svc.qr_codes drop constraint refused')
    const moved = await move(merchantId, 'a')
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    expect(await codesAt(cells.b, merchantId)).toHaveLength(1)
  },
  MOVES_MS,
)

/** How often a mover of this database has begun to wait for a lock, asked from outside until it is this often. */
async function untilWaited({ db }: TestService, times: number): Promise<void> {
  const begun = new Set<string>()
  await asSuperuser('postgres', async (client) => {
    while (begun.size < times) {
      const { rows } = await client.query<{ since: string }>(
        `select query_start::text as since from pg_stat_activity
         where datname = $1 and application_name = 'svc cells' and wait_event_type = 'Lock'`,
        [db.database],
      )
      for (const { since } of rows) begun.add(since)
      await sleep(20)
    }
  })
}

test(
  'a move that waits too long for a lock lets those who serve pass, and goes on',
  async () => {
    const { merchantId } = await cells.a.newMerchant()
    const moved = await asSuperuser(cells.a.db.database, async (client) => {
      await client.query('begin; lock table svc.tenant_moves in exclusive mode')
      const moving = move(merchantId, 'a')
      await untilWaited(cells.a, 2)
      await client.query('commit')
      return moving
    })
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    expect(moved.stderr).toContain('waited too long for a lock')
  },
  MOVES_MS,
)

test('a write that misses a row of a tenant that has left says that the tenant is not served here', async () => {
  const { database } = cells.a.app.services
  const { merchantId } = await cells.a.newMerchant()
  const misses = `insert into tenant_moves (tenant_id, state, cell) values ('mer_none', 'moved', 'b')`
  const cause: unknown = await onCell(cells.a, misses).catch((error: unknown) => error)
  expect(await causeAtHome(database, merchantId, cause)).toBe(cause)
  await onCell(cells.a, `insert into tenant_moves (tenant_id, state, cell) values ($1, 'moved', 'b')`, [
    merchantId,
  ])
  expect(isTenantAway(await causeAtHome(database, merchantId, cause))).toBe(true)
  const other = new Error('of something else')
  expect(await causeAtHome(database, merchantId, other)).toBe(other)
})

test('every table of tenants is moved or has a reason to stay, and is guarded unless it stays', async () => {
  const open = await connectCell({
    host: cells.a.db.host,
    port: cells.a.db.port,
    database: cells.a.db.database,
  })
  try {
    const tables = await tenantTables(open.client)
    const names = tables.map(({ name }) => name)
    expect(Object.keys(NOT_REPLICATED).filter((name) => !names.includes(name))).toEqual([])
    const { rows } = await open.client.query<{ name: string }>(
      `select c.relname::text as name from pg_class c
       where exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'at_home_insert')
         and exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'at_home_update')
         and exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'at_home_delete')`,
    )
    const guarded = rows.map(({ name }) => name)
    // The audit is carried at the end, and nothing is added to it meanwhile.
    const wanted = names.filter((name) => !(name in NOT_REPLICATED) || name === 'audit_log')
    expect(guarded.toSorted()).toEqual(wanted.toSorted())
  } finally {
    await open.close()
  }
})
