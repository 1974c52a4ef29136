import { useSession } from '../session.ts'
import { usePlaces } from './navigation.tsx'

export interface Act {
  readonly to: string
  readonly label: string
  readonly detail: string
}

/** What people do, by the words they would say, and where it is done. */
const ACTS = [
  { to: '/settlements/import', label: 'Import a settlement file', permission: 'finance' },
  { to: '/settlements/open-lines', label: 'Unmatched lines of settlements' },
  { to: '/statements/import', label: 'Import a bank statement', permission: 'finance' },
  { to: '/payouts', label: 'Prepare payouts', permission: 'finance' },
  { to: '/qr-codes', label: 'Create QR code', permission: 'support' },
  { to: '/partners/set-up', label: 'Set up a partner', permission: 'operations' },
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
  const places = usePlaces()
  if (typed === '') return []
  const all = [
    ...places.map(({ label, to }) => ({ to, label, detail: 'Page' })),
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
