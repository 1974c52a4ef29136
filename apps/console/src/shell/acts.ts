import { api, responseOf } from '../api.ts'
import { kindOf } from '../objects.ts'
import { useSession } from '../session.ts'
import { type Act, actsOf } from './acts-of.ts'
import { useAreas } from './areas.ts'
import type { FindSource } from './find.tsx'

/** What people do, by the words they would say, and where it is done. */
const ACTS = [
  { to: '/bank-files', label: 'Import a settlement file or a bank statement', permission: 'finance' },
  { to: '/bank-files/out', label: 'Make a file of payouts or refunds for the bank', permission: 'finance' },
  { to: '/payouts', label: 'Prepare payouts', permission: 'finance' },
  { to: '/qr-codes', label: 'Create QR code', permission: 'support' },
  { to: '/partners/set-up', label: 'Onboard partner', permission: 'operations' },
  { to: '/merchants/set-up', label: 'Onboard merchant', permission: 'operations' },
  { to: '/merchants', label: 'Create merchant', permission: 'operations' },
  { to: '/close', label: 'Close a month' },
  { to: '/account', label: 'Your account, password and second factor' },
] as const

function useActs(typed: string): readonly Act[] {
  const { can } = useSession()
  return actsOf(
    typed,
    useAreas(),
    ACTS.filter((act) => !('permission' in act) || can(act.permission)),
  )
}

/** Whatever operators look for. */
export const CONSOLE_FIND: FindSource = {
  base: '/console',
  label: 'Page, action, id, UTR, amount, case, reference, card’s last four digits, mobile, e-mail, name …',
  nothing:
    'Nothing found. Ids, references and bank references must be whole; of names the begin of a word is enough; amounts are those of the latest payments.',
  find: async (q) => (await responseOf(api.GET('/search', { params: { query: { q } } }))).results,
  useActs,
  pageOf: kindOf,
}
