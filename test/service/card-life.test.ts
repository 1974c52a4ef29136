import type { KycStatus } from '@svc/core/cards/card/card-states'
import { changeCardStatus } from '@svc/core/cards/card/change-card-status'
import { CARD_CHECKS } from '@svc/core/cards/card/reconcile-cards'
import { setCardKyc } from '@svc/core/cards/card/set-card-kyc'
import { reconcile } from '@svc/core/ledger/reconcile'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client
let outsider: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
  outsider = await asPartner(service.client, await newPartner(service))
})
afterAll(async () => {
  const books = await reconcile(service.app.services.database, CARD_CHECKS)
  await service.close()
  expect(books.checks.filter(({ ok }) => !ok)).toEqual([])
})

const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const newCard = async (order: object = {}): Promise<Json> =>
  payloadOf(await createCard(client, partner, order))
const setStatus = (svcCardId: string, status: string, reason?: string) =>
  client.patch(path(svcCardId, '/status'), { status, ...(reason !== undefined && { reason }) })
const activate = (svcCardId: string) => client.post(path(svcCardId, '/activate'))
const history = async (svcCardId: string): Promise<Json[]> =>
  payloadOf(await client.get(path(svcCardId, '/history'))).data
const card = async (svcCardId: string): Promise<Json> => payloadOf(await client.get(path(svcCardId)))

/** The command that `svc admin cards kyc set` runs. */
function setKyc(svcCardId: string, kycStatus: KycStatus): Promise<unknown> {
  const { partnerId } = partner
  const args = { partnerId, svcCardId, kycStatus, actor: 'operator', reason: 'checked' } as const
  return service.app.services.commands.open(setCardKyc).run(args)
}

interface Event {
  readonly type: string
  readonly payload: Json
  readonly at: Date
}

const eventsOf = async (svcCardId: string): Promise<Event[]> => {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<Event>(
      'select type, payload, created_at as at from outbox where object_id = $1 order by created_at',
      [svcCardId],
    ),
  )
  return rows
}

// Spec section 3.2 and decision C10, written out: what PATCH status answers for every pair of states.
const STATUS_TABLE: Record<string, Record<string, 'moves' | 'same' | 'refused'>> = {
  UL: { UL: 'same', L: 'moves', BL: 'moves' },
  L: { UL: 'moves', L: 'same', BL: 'moves' },
  BL: { UL: 'refused', L: 'refused', BL: 'same' },
  AP: { UL: 'refused', L: 'refused', BL: 'moves' },
}
for (const [from, row] of Object.entries(STATUS_TABLE))
  for (const [to, outcome] of Object.entries(row))
    test(`changing a card from ${from} to ${to}: ${outcome}`, async () => {
      const { svcCardId } = await newCard({ physicalCard: from === 'AP' })
      if (from !== 'UL' && from !== 'AP') payloadOf(await setStatus(svcCardId, from, 'to begin with'))
      const before = await card(svcCardId)
      const entries = (await history(svcCardId)).length
      const response = await setStatus(svcCardId, to, 'because')
      if (outcome === 'refused') expect(response).toMatchObject({ status: 409, error: 'invalid_transition' })
      else expect(payloadOf(response).cardStatus.name).toBe(to)
      if (outcome === 'moves')
        expect((await history(svcCardId))[0]).toMatchObject({
          field: 'cardStatus',
          from,
          to,
          reason: 'because',
          actor: 'partner',
        })
      else expect(await card(svcCardId)).toEqual(before)
      expect((await history(svcCardId)).length).toBe(entries + (outcome === 'moves' ? 1 : 0))
    })

// Spec section 3.3 and decision C19: from each state, the states that may follow.
const KYC_TABLE: Record<KycStatus, string> = {
  NOT_UPLOADED: 'DRAFTED CREATED UPLOADED MIN_KYC_VERIFIED KYC_NOT_ALLOWED',
  DRAFTED: 'CREATED UPLOADED KYC_NOT_ALLOWED',
  CREATED: 'UPLOADED MIN_KYC_VERIFIED KYC_NOT_ALLOWED',
  UPLOADED: 'PENDING CKYC_PENDING LIVENESS_PENDING PAPER_KYC_PENDING FAILED',
  PENDING: 'VERIFIED FAILED CKYC_PENDING LIVENESS_PENDING PAPER_KYC_PENDING',
  CKYC_PENDING: 'CKYC_IN_PROGRESS FAILED',
  CKYC_IN_PROGRESS: 'VERIFIED FAILED LIVENESS_PENDING',
  LIVENESS_PENDING: 'VERIFIED OSV_VERIFIED FAILED',
  PAPER_KYC_PENDING: 'OSV_VERIFIED VERIFIED FAILED',
  MIN_KYC_VERIFIED: 'UPLOADED CKYC_PENDING KYC_NOT_ALLOWED',
  OSV_VERIFIED: 'VERIFIED FAILED',
  VERIFIED: 'PENDING',
  FAILED: 'UPLOADED KYC_NOT_ALLOWED',
  KYC_NOT_ALLOWED: 'NOT_UPLOADED',
}
const KYC_STATES = Object.keys(KYC_TABLE) as KycStatus[]
for (const from of KYC_STATES)
  test(`from KYC ${from} a card changes to ${KYC_TABLE[from]} and to nothing else`, async () => {
    const { svcCardId } = await newCard()
    for (const to of KYC_STATES) {
      await asSuperuser(service.db.database, (db) =>
        db.query('update cards set kyc_status = $2 where svc_card_id = $1', [svcCardId, from]),
      )
      const entries = (await history(svcCardId)).length
      const moves = KYC_TABLE[from].split(' ').includes(to)
      if (moves || to === from) await setKyc(svcCardId, to)
      else await expect(setKyc(svcCardId, to)).rejects.toMatchObject({ code: 'invalid_transition' })
      const [latest, ...rest] = await history(svcCardId)
      expect(rest.length + (latest ? 1 : 0)).toBe(entries + (moves ? 1 : 0))
      if (moves)
        expect(latest).toMatchObject({ field: 'kycStatus', from, to, actor: 'operator', reason: 'checked' })
      expect((await card(svcCardId)).kycStatus.name).toBe(moves ? to : from)
    }
    // Else the books would tell of the states that this test put the card into.
    await asSuperuser(service.db.database, (db) =>
      db.query('delete from card_changes where svc_card_id = $1', [svcCardId]),
    )
  })

test('a rejected status change states the allowed ones', async () => {
  const { svcCardId } = await newCard()
  payloadOf(await setStatus(svcCardId, 'BL', 'lost'))
  expect((await setStatus(svcCardId, 'UL')).errorDescription).toContain('final')
  const physical = await newCard({ physicalCard: true })
  expect((await setStatus(physical.svcCardId, 'L')).errorDescription).toContain('BL')
  expect((await setStatus(physical.svcCardId, 'UL')).errorDescription).toContain('activation')
})

test('blocking needs a reason, which the record shows; other status changes do not', async () => {
  const { svcCardId } = await newCard()
  expect(await setStatus(svcCardId, 'BL')).toMatchObject({ status: 400, error: 'validation_failed' })
  for (const reason of ['', '   ', 'x'.repeat(256)])
    expect((await setStatus(svcCardId, 'BL', reason)).status).toBe(400)
  expect(payloadOf(await setStatus(svcCardId, 'L')).cardStatus).toEqual({ name: 'L', label: 'Locked' })
  expect(payloadOf(await setStatus(svcCardId, 'BL', 'x'.repeat(255)))).toMatchObject({
    cardStatus: { name: 'BL', label: 'Blocked' },
    remarks: 'x'.repeat(255),
  })
})

test('AP is not a status that a caller can request', async () => {
  expect((await setStatus((await newCard()).svcCardId, 'AP')).status).toBe(400)
})

test('a physical card is activated once, and a repeat returns the same response', async () => {
  const { svcCardId, cardActivated } = await newCard({ physicalCard: true })
  expect(cardActivated).toBe(false)
  const first = await activate(svcCardId)
  expect(payloadOf(first)).toMatchObject({ cardStatus: { name: 'UL' }, cardActivated: true })
  expect((await activate(svcCardId)).text).toBe(first.text)
  const changes = await history(svcCardId)
  expect(changes.map(({ field, from, to }) => `${field} ${from} ${to}`).sort()).toEqual([
    'cardActivated false true',
    'cardStatus AP UL',
  ])
})

test('virtual and blocked cards are not activated', async () => {
  expect(await activate((await newCard()).svcCardId)).toMatchObject({
    status: 409,
    error: 'invalid_transition',
  })
  const { svcCardId } = await newCard({ physicalCard: true })
  payloadOf(await setStatus(svcCardId, 'BL', 'never arrived'))
  expect(await activate(svcCardId)).toMatchObject({ status: 409, error: 'invalid_transition' })
  expect((await card(svcCardId)).cardActivated).toBe(false)
})

test('only a changed status is an event, published once with the record as the API returns it', async () => {
  const { svcCardId } = await newCard()
  const locked = payloadOf(await setStatus(svcCardId, 'L', 'trip'))
  payloadOf(await setStatus(svcCardId, 'L', 'trip'))
  payloadOf(await client.patch(path(svcCardId, '/flags'), { posAllowed: false }))
  const events = (await eventsOf(svcCardId)).filter(({ type }) => type !== 'card.created')
  expect(events).toEqual([{ type: 'card.status_changed', payload: locked, at: expect.any(Date) }])
})

test('user flags are set one by one, and setting them again changes nothing', async () => {
  const { svcCardId } = await newCard()
  const flags = { posAllowed: false, atmAllowed: true }
  const first = await client.patch(path(svcCardId, '/flags'), flags)
  expect(payloadOf(first)).toMatchObject({
    ...flags,
    onlineAllowed: true,
    posAllowedAdmin: true,
    atmAllowedAdmin: false,
  })
  expect((await client.patch(path(svcCardId, '/flags'), flags)).text).toBe(first.text)
  expect(await history(svcCardId)).toHaveLength(2)
})

test('admin flags and an empty change are rejected', async () => {
  const { svcCardId } = await newCard()
  for (const flags of [{}, { posAllowedAdmin: true }, { posAllowed: 'yes' }])
    expect(await client.patch(path(svcCardId, '/flags'), flags)).toMatchObject({
      status: 400,
      error: 'validation_failed',
    })
})

test('the history is returned newest first, in pages, in the order of the changes', async () => {
  const { svcCardId } = await newCard()
  const wanted = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? ('L' as const) : ('UL' as const)))
  // Handed over at once, so that most of them go together in one batch, at one instant of the database.
  const { partnerId } = partner
  const { run } = service.app.services.commands.open(changeCardStatus)
  await Promise.all(
    wanted.map((status) => run({ partnerId, svcCardId, status, actor: 'partner', reason: '' })),
  )
  const all = await history(svcCardId)
  all.slice(1).forEach((older, i) => expect(older.to).toBe(all[i]!.from))
  const pages: Json[] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: Json = payloadOf(
      await client.get(path(svcCardId, `/history?limit=5${next && `&after=${next}`}`)),
    )
    pages.push(...page.data)
    next = page.next
  }
  expect(pages).toEqual(all)
  expect((await card(svcCardId)).cardStatus.name).toBe(all[0]!.to)
})

test('another partner’s card gets the same response as a nonexistent one, as do malformed ids', async () => {
  const { svcCardId } = await newCard()
  const missing = `card_${'0'.repeat(26)}`
  const without = ({ text }: ApiResponse) => text.replaceAll(/"requestId":"[^"]*"|"timestamp":"[^"]*"/g, '')
  const calls: ((who: Client, id: string) => Promise<ApiResponse>)[] = [
    (who, id) => who.patch(path(id, '/status'), { status: 'L' }),
    (who, id) => who.post(path(id, '/activate'), {}),
    (who, id) => who.patch(path(id, '/flags'), { posAllowed: false }),
    (who, id) => who.get(path(id, '/history')),
  ]
  for (const call of calls) {
    const other = await call(outsider, svcCardId)
    expect(other).toMatchObject({ status: 404, error: 'card_not_found' })
    for (const id of [missing, 'x', 'card_%00', '..%2f', encodeURIComponent("card_' or 1=1")])
      expect(without(await call(outsider, id))).toBe(without(other))
  }
  expect(await history(svcCardId)).toEqual([])
})
