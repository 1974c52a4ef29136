import { asCallFailed } from '../failure.ts'
import { kindOf } from '../objects.ts'
import { readRupees, rupees } from '../parts/money.tsx'
import { actsOf } from '../shell/acts-of.ts'
import { type FindSource, type Found, Find as Palette } from '../shell/find.tsx'
import { api, payloadOf } from './api.ts'
import { useAreas } from './areas.ts'
import { pageOf } from './kinds.ts'
import { useMember } from './session.ts'

const MOST = 5

/** Pages and actions besides the places of the navigation. */
const ACTS = [
  { to: '/qr-codes', label: 'Create QR code', kind: 'merchant', role: 'operator' },
  { to: '/card-accounts', label: 'Issue cards', kind: 'partner', role: 'operator' },
  { to: '/members', label: 'Invite a member', role: 'admin' },
  { to: '/credentials', label: 'Issue API key', role: 'admin' },
  { to: '/account', label: 'Your account, password, passkeys and second factor', role: 'viewer' },
] as const

function useActs(typed: string) {
  const { can, kind } = useMember()
  const acts = ACTS.filter((act) => can(act.role) && (!('kind' in act) || act.kind === kind))
  return actsOf(typed, useAreas(), acts)
}

type Rows<Row> = Promise<{ readonly data: readonly Row[] }>

/** Of a list that refuses the text as a filter, nothing is found; a failure of another cause is one of the search. */
async function rowsOf<Row>(list: Rows<Row>, show: (row: Row) => Found): Promise<Found[]> {
  try {
    return (await list).data.map(show)
  } catch (error) {
    if (asCallFailed(error).status === 400) return []
    throw error
  }
}

type Query = Readonly<Record<string, string>>

/** A page of a list by one of its filters. */
function list<Row>(path: string, query: Query): Rows<Row> {
  const params = { query: { ...query, limit: String(MOST) } }
  return payloadOf(api.GET(path as never, { params } as never)) as never
}

interface Payment {
  readonly paymentId: string
  readonly amount: number
  readonly utr: string
}
const payment = ({ amount, paymentId, utr }: Payment): Found => ({
  kind: 'payment',
  id: paymentId,
  title: rupees(amount),
  subtitle: `UTR ${utr}`,
})

interface Refund {
  readonly paymentId: string
  readonly amount: number
  readonly referenceNumber?: string
}
/** Refunds are shown on the page of their payment. */
const refund = ({ amount, paymentId, referenceNumber }: Refund): Found => ({
  kind: 'payment',
  id: paymentId,
  title: `Refund of ${rupees(amount)}`,
  subtitle: referenceNumber,
})

interface Code {
  readonly qrCodeId: string
  readonly qrName?: string
  readonly referenceNumber?: string
}
const searchCodes = (body: Query): Rows<Code> =>
  payloadOf(api.POST('/qr-code/search', { body: { ...body, limit: MOST } as never })) as never
const code = ({ qrCodeId, qrName, referenceNumber }: Code): Found => ({
  kind: 'qrCode',
  id: qrCodeId,
  title: qrName ?? qrCodeId,
  subtitle: referenceNumber,
})

/** What a merchant has at hand: a reference, a UTR, an amount, a case, a customer’s mobile number. */
async function findOfMerchant(q: string): Promise<Found[]> {
  const amount = readRupees(q)
  const mobile = q.replace(/^\+91/, '').replaceAll(' ', '')
  const found = await Promise.all([
    ...(amount === undefined ? [] : [rowsOf(list<Payment>('/payments', { amount }), payment)]),
    rowsOf(searchCodes({ referenceNumber: q }), code),
    ...(/^\d{10}$/.test(mobile) ? [rowsOf(searchCodes({ customerMobile: mobile }), code)] : []),
    rowsOf(list<Payment>('/payments', { utr: q }), payment),
    rowsOf(list<Payment>('/payments', { referenceNumber: q }), payment),
    rowsOf(list<Refund>('/refunds', { referenceNumber: q }), refund),
    rowsOf(list<Refund>('/refunds', { utr: q }), refund),
    rowsOf(list<{ disputeId: string; amount: number }>('/disputes', { caseReference: q }), (row) => ({
      kind: 'dispute',
      id: row.disputeId,
      title: `Dispute of ${rupees(row.amount)}`,
      subtitle: q,
    })),
    rowsOf(
      list<{ payoutId: string; businessDay: string; amount: number }>('/payouts', { utr: q }),
      (row) => ({
        kind: 'payout',
        id: row.payoutId,
        title: `Payout of ${row.businessDay}`,
        subtitle: rupees(row.amount),
      }),
    ),
  ])
  return found.flat()
}

interface Account {
  readonly cardAccountId: string
  readonly companyName: string
  readonly cardProgramme?: string
}

/** Accounts are few: they are found by the begin of any word of their company or programme. */
async function findOfPartner(q: string): Promise<Found[]> {
  const params = { query: { limit: '500' } }
  const accounts = payloadOf(api.GET('/partner/card-accounts' as never, { params } as never)) as Rows<Account>
  const found = await rowsOf(accounts, ({ cardAccountId, cardProgramme = '', companyName }) => ({
    kind: 'cardAccount',
    id: cardAccountId,
    title: [companyName, cardProgramme].filter(Boolean).join(' '),
  }))
  return found.filter(({ title }) => ` ${title.toLowerCase()}`.includes(` ${q.toLowerCase()}`))
}

const OF_BOTH = {
  base: '/portal',
  useActs,
  pageOf: (id: string) => (kindOf(id) === 'request' ? 'request' : pageOf(id)),
} as const

const SOURCES: Readonly<Record<'merchant' | 'partner', FindSource>> = {
  merchant: {
    ...OF_BOTH,
    label: 'Page, action, id, amount, your reference, UTR, case, customer’s mobile …',
    nothing: 'Nothing found. Ids and references must be whole; amounts are those of payments.',
    find: findOfMerchant,
  },
  partner: {
    ...OF_BOTH,
    label: 'Page, action, id of a card, an account or a request, company of an account …',
    nothing: 'Nothing found. Ids must be whole; of names the begin of a word is enough.',
    find: findOfPartner,
  },
}

interface FindProps {
  readonly pasted: string
  readonly onClose: () => void
}

/** Finds what is the tenant’s own, and opens it. */
export function Find(props: FindProps) {
  const { kind } = useMember()
  return <Palette source={SOURCES[kind]} opened {...props} />
}
