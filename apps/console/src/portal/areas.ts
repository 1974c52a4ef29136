import {
  CardIcon,
  CoinIcon,
  HomeIcon,
  PayoutIcon,
  QrIcon,
  SettingsIcon,
  WebhookIcon,
} from '../parts/icons.tsx'
import { type Area, areasWith, type Place } from '../shell/area.ts'
import { type Role, useMember } from './session.ts'

interface PortalPlace extends Place {
  /** For tenants of one kind. */
  readonly kind?: 'merchant' | 'partner'
  readonly role?: Role
}

/** The places of the portal: menu, palette and keys. */
const AREAS: readonly Area<PortalPlace>[] = [
  { label: 'Home', key: 'h', Icon: HomeIcon, places: [{ to: '/', label: 'Home' }] },
  {
    label: 'Payments',
    key: 'p',
    Icon: QrIcon,
    places: [
      { to: '/payments', label: 'Payments', kind: 'merchant' },
      { to: '/qr-codes', label: 'QR codes', kind: 'merchant' },
      { to: '/refunds', label: 'Refunds', kind: 'merchant' },
      { to: '/disputes', label: 'Disputes', kind: 'merchant' },
    ],
  },
  {
    label: 'Payouts',
    key: 'm',
    Icon: PayoutIcon,
    places: [
      { to: '/payouts', label: 'Payouts', kind: 'merchant' },
      { to: '/statements', label: 'Statements', kind: 'merchant' },
    ],
  },
  {
    label: 'Cards',
    key: 'c',
    Icon: CardIcon,
    places: [
      { to: '/cards', label: 'Cards', kind: 'partner' },
      { to: '/card-accounts', label: 'Card accounts', kind: 'partner' },
      { to: '/users', label: 'Holders', kind: 'partner' },
      { to: '/companies', label: 'Companies', kind: 'partner' },
      { to: '/statements', label: 'Statements', kind: 'partner' },
    ],
  },
  {
    label: 'Coins',
    key: 'o',
    Icon: CoinIcon,
    places: [{ to: '/coins', label: 'Coins', kind: 'partner' }],
  },
  {
    label: 'Developers',
    key: 'd',
    Icon: WebhookIcon,
    places: [
      { to: '/credentials', label: 'API keys' },
      { to: '/encryption-keys', label: 'Encryption keys', kind: 'partner' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/requests', label: 'Requests' },
      { to: '/events', label: 'Events' },
    ],
  },
  {
    label: 'Settings',
    key: 's',
    Icon: SettingsIcon,
    places: [
      { to: '/members', label: 'Members' },
      { to: '/bank-account', label: 'Bank account and fee', kind: 'merchant' },
      { to: '/activity', label: 'Activity', role: 'admin' },
    ],
  },
]

/** The areas that the member may read. */
export function useAreas(): readonly Area[] {
  const { can, kind } = useMember()
  return areasWith(
    AREAS,
    (place) => (place.kind ?? kind) === kind && (place.role === undefined || can(place.role)),
  )
}
