import {
  AuditIcon,
  CardIcon,
  CoinIcon,
  HomeIcon,
  PayoutIcon,
  QrIcon,
  SettingsIcon,
  TenantIcon,
  WebhookIcon,
} from '../parts/icons.tsx'
import { type Permission, type Role, useSession } from '../session.ts'
import { type Area, areasWith, type Place, type Tab } from './area.ts'

interface Permitted {
  readonly permission?: Permission
}

interface ConsolePlace extends Place, Permitted {
  readonly tabs?: readonly (Tab & Permitted)[]
}

interface ConsoleArea extends Area<ConsolePlace> {
  /** Roles that do their work here, and begin here after the sign-in; others begin at the first area. */
  readonly startOf?: readonly Role[]
}

/** The places of the console: menu, palette, keys, and where each role begins. */
const AREAS: readonly ConsoleArea[] = [
  {
    label: 'Home',
    key: 'h',
    Icon: HomeIcon,
    places: [
      { to: '/', label: 'Home' },
      { to: '/status', label: 'Status', behind: true },
    ],
  },
  {
    label: 'Payments',
    key: 'p',
    Icon: QrIcon,
    startOf: ['support'],
    places: [
      { to: '/payments', label: 'Payments' },
      { to: '/qr-codes', label: 'QR codes' },
      { to: '/refunds', label: 'Refunds' },
      { to: '/disputes', label: 'Disputes' },
    ],
  },
  {
    label: 'Money',
    key: 'm',
    Icon: PayoutIcon,
    places: [
      { to: '/settlements', label: 'Settlements' },
      { to: '/payouts', label: 'Payouts' },
      {
        to: '/bank-files',
        label: 'Bank files',
        tabs: [
          { to: '/bank-files', label: 'In' },
          { to: '/bank-files/out', label: 'Out', permission: 'finance' },
        ],
      },
      {
        to: '/suspense',
        label: 'Unmatched',
        tabs: [
          { to: '/suspense', label: 'Suspense' },
          { to: '/notices', label: 'Bank notices', permission: 'finance' },
          { to: '/statements', label: 'Statement lines' },
          { to: '/settlements/open-lines', label: 'Settlement lines' },
        ],
      },
      {
        to: '/ledger',
        label: 'Books',
        tabs: [
          { to: '/ledger', label: 'Accounts' },
          { to: '/ledger/trial-balance', label: 'Trial balance' },
          { to: '/ledger/reconciliation', label: 'Reconciliation' },
        ],
      },
      { to: '/close', label: 'Close' },
    ],
  },
  {
    label: 'Cards',
    key: 'c',
    Icon: CardIcon,
    places: [
      { to: '/cards', label: 'Cards' },
      { to: '/card-accounts', label: 'Card accounts' },
      { to: '/users', label: 'Holders' },
      { to: '/card-exceptions', label: 'Card exceptions', permission: 'finance' },
    ],
  },
  { label: 'Coins', key: 'o', Icon: CoinIcon, places: [{ to: '/coins', label: 'Coins' }] },
  {
    label: 'Tenants',
    key: 't',
    Icon: TenantIcon,
    places: [
      { to: '/merchants', label: 'Merchants' },
      {
        to: '/partners',
        label: 'Partners',
        tabs: [
          { to: '/partners', label: 'Partners' },
          { to: '/companies', label: 'Companies' },
        ],
      },
    ],
  },
  {
    label: 'Developers',
    key: 'd',
    Icon: WebhookIcon,
    startOf: ['operations'],
    places: [
      { to: '/requests', label: 'Requests' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/events', label: 'Events' },
    ],
  },
  {
    label: 'Approvals & risk',
    key: 'a',
    Icon: AuditIcon,
    startOf: ['auditor'],
    places: [
      { to: '/approvals', label: 'Approvals' },
      { to: '/audit', label: 'Audit' },
      { to: '/audit', search: { action: 'personal_data.revealed' }, label: 'Reveals' },
      { to: '/alerts', label: 'Alerts' },
    ],
  },
  {
    label: 'Admin',
    key: 'n',
    Icon: SettingsIcon,
    places: [
      { to: '/operators', label: 'Operators', permission: 'administer' },
      { to: '/sessions', label: 'Sessions', permission: 'administer' },
      { to: '/settings', label: 'Settings', permission: 'administer' },
    ],
  },
]

/** The areas that the operator may read. */
export function useAreas(): readonly Area[] {
  const { can } = useSession()
  return areasWith(AREAS, ({ permission }: Permitted) => permission === undefined || can(permission))
}

/** Where the work of a role begins. */
export const startOf = (role: Role): string =>
  (AREAS.find(({ startOf: roles }) => roles?.includes(role)) ?? AREAS[0]!).places[0]!.to
