import { responseOf } from '../api.ts'
import { kindOf } from '../objects.ts'
import { actsOf } from '../shell/acts-of.ts'
import { type FindSource, type Found, Find as Palette } from '../shell/find.tsx'
import { api } from './api.ts'
import { useAreas } from './areas.ts'
import { pageOf } from './kinds.ts'
import { useMember } from './session.ts'

/** Pages and actions besides the places of the navigation. */
const ACTS = [
  { to: '/qr-codes', label: 'Create QR code', kind: 'merchant', role: 'operator' },
  { to: '/cards', label: 'Issue card', kind: 'partner', role: 'operator' },
  { to: '/card-accounts', label: 'Create card account', kind: 'partner', role: 'operator' },
  { to: '/users', label: 'Register holder', kind: 'partner', role: 'operator' },
  { to: '/companies', label: 'Register company', kind: 'partner', role: 'operator' },
  { to: '/members', label: 'Invite a member', role: 'admin' },
  { to: '/credentials', label: 'Issue API key', role: 'admin' },
  { to: '/account', label: 'Your account, password, passkeys and second factor', role: 'viewer' },
] as const

function useActs(typed: string) {
  const { can, kind } = useMember()
  const acts = ACTS.filter((act) => can(act.role) && (!('kind' in act) || act.kind === kind))
  return actsOf(typed, useAreas(), acts)
}

/** Refunds are shown on the page of their payment. */
async function find(q: string): Promise<Found[]> {
  const { results } = await responseOf(api.GET('/search', { params: { query: { q } } }))
  return results.map(({ of, ...result }) =>
    of === undefined ? result : { ...result, kind: 'payment', id: of, title: `Refund ${result.title}` },
  )
}

const OF_BOTH = {
  base: '/portal',
  useActs,
  find,
  pageOf: (id: string) => (kindOf(id) === 'request' ? 'request' : pageOf(id)),
} as const

const SOURCES: Readonly<Record<'merchant' | 'partner', FindSource>> = {
  merchant: {
    ...OF_BOTH,
    label: 'Page, action, name of a code, amount, reference, UTR, case, UPI ID, mobile …',
    nothing:
      'Nothing found. Ids, references, UPI IDs and mobile numbers must be whole; amounts are those of payments.',
  },
  partner: {
    ...OF_BOTH,
    label: 'Page, action, last four digits of a card, e-mail, mobile, company, programme …',
    nothing:
      'Nothing found. Ids, e-mail addresses and mobile numbers must be whole; of names the begin of a word is enough.',
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
