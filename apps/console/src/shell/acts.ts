import { useSession } from '../session.ts'
import type { Place } from './area.ts'
import { useAreas } from './areas.ts'

export interface Act extends Place {
  readonly detail: string
}

/** What people do, by the words they would say, and where it is done. */
const ACTS = [
  { to: '/settlements/import', label: 'Import a settlement file', permission: 'finance' },
  { to: '/settlements/open-lines', label: 'Unmatched lines of settlements' },
  { to: '/statements/import', label: 'Import a bank statement', permission: 'finance' },
  { to: '/payouts', label: 'Prepare payouts', permission: 'finance' },
  { to: '/qr-codes', label: 'Create QR code', permission: 'support' },
  { to: '/partners/set-up', label: 'Onboard partner', permission: 'operations' },
  { to: '/merchants/set-up', label: 'Onboard merchant', permission: 'operations' },
  { to: '/merchants', label: 'Create merchant', permission: 'operations' },
  { to: '/ledger/trial-balance', label: 'Trial balance' },
  { to: '/ledger/reconciliation', label: 'Reconcile the books' },
  { to: '/close', label: 'Close a month' },
  { to: '/account', label: 'Your account, password and second factor' },
] as const

const SHOWN = 5

/** Whether a text begins with what was typed, at its begin or at that of a word. */
const beginsIn = (label: string, typed: string): boolean =>
  ` ${label.toLowerCase()}`.includes(` ${typed.toLowerCase()}`)

/** Pages and actions that begin with what was typed, those first whose name does. */
export function useActs(typed: string): readonly Act[] {
  const { can } = useSession()
  const areas = useAreas()
  if (typed === '') return []
  const all = [
    ...areas.flatMap(({ label: area, places }) => places.map((place) => ({ ...place, detail: area }))),
    ...ACTS.filter((act) => !('permission' in act) || can(act.permission)).map(({ label, to }) => ({
      to,
      label,
      detail: 'Action',
    })),
  ]
  const isFirst = ({ label }: Act) => label.toLowerCase().startsWith(typed.toLowerCase())
  return all
    .filter(({ label }) => beginsIn(label, typed))
    .toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
    .slice(0, SHOWN)
}
