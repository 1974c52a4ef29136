import { NavLink, ScrollArea, Stack, Text } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import {
  AccountIcon,
  AuditIcon,
  CardIcon,
  CloseIcon,
  CoinIcon,
  CompanyIcon,
  ExceptionIcon,
  LedgerIcon,
  MerchantIcon,
  NoticeIcon,
  OverviewIcon,
  PartnerIcon,
  PaymentIcon,
  PayoutIcon,
  QrIcon,
  RefundIcon,
  RequestsIcon,
  SettlementIcon,
  StatementIcon,
  StatusIcon,
  SuspenseIcon,
  UserIcon,
  WarningIcon,
  WebhookIcon,
} from '../parts/icons.tsx'
import { useSession } from '../session.ts'

/** The places of the console; `key` goes there after `g`. */
const PLACES = [
  { group: 'Now', to: '/', label: 'Home', Icon: OverviewIcon, key: 'o' },
  { group: 'Now', to: '/status', label: 'Status', Icon: StatusIcon, key: 'h' },
  { group: 'Now', to: '/alerts', label: 'Alerts', Icon: WarningIcon, key: 'j' },
  { group: 'Now', to: '/requests', label: 'Requests', Icon: RequestsIcon, key: 'r' },
  { group: 'Now', to: '/webhooks', label: 'Webhooks', Icon: WebhookIcon, key: 'w' },
  { group: 'Payment gateway', to: '/merchants', label: 'Merchants', Icon: MerchantIcon, key: 'm' },
  { group: 'Payment gateway', to: '/qr-codes', label: 'QR codes', Icon: QrIcon, key: 'q' },
  { group: 'Payment gateway', to: '/payments', label: 'Payments', Icon: PaymentIcon, key: 'n' },
  { group: 'Payment gateway', to: '/refunds', label: 'Refunds', Icon: RefundIcon, key: 'f' },
  { group: 'Payment gateway', to: '/disputes', label: 'Disputes', Icon: ExceptionIcon, key: 'k' },
  { group: 'Money', to: '/settlements', label: 'Settlements', Icon: SettlementIcon, key: 'z' },
  { group: 'Money', to: '/payouts', label: 'Payouts', Icon: PayoutIcon, key: 'd' },
  { group: 'Money', to: '/statements', label: 'Bank statements', Icon: StatementIcon, key: '1' },
  { group: 'Money', to: '/suspense', label: 'Suspense', Icon: SuspenseIcon, key: 's' },
  {
    group: 'Money',
    to: '/notices',
    label: 'Bank notices',
    Icon: NoticeIcon,
    key: 'b',
    permission: 'finance',
  },
  { group: 'Money', to: '/ledger', label: 'Ledger', Icon: LedgerIcon, key: 'l' },
  { group: 'Money', to: '/close', label: 'Close', Icon: CloseIcon, key: '0' },
  { group: 'Cards and rewards', to: '/partners', label: 'Partners', Icon: PartnerIcon, key: 'p' },
  { group: 'Cards and rewards', to: '/companies', label: 'Companies', Icon: CompanyIcon, key: 'y' },
  { group: 'Cards and rewards', to: '/card-accounts', label: 'Card accounts', Icon: AccountIcon, key: 'a' },
  { group: 'Cards and rewards', to: '/users', label: 'Users', Icon: UserIcon, key: 'u' },
  { group: 'Cards and rewards', to: '/cards', label: 'Cards', Icon: CardIcon, key: 'c' },
  {
    group: 'Cards and rewards',
    to: '/card-exceptions',
    label: 'Card exceptions',
    Icon: ExceptionIcon,
    key: 'x',
    permission: 'finance',
  },
  { group: 'Cards and rewards', to: '/coins', label: 'Coins', Icon: CoinIcon, key: 'i' },
  { group: 'Approvals and people', to: '/approvals', label: 'Approvals', Icon: AuditIcon, key: 'v' },
  { group: 'Approvals and people', to: '/audit', label: 'Audit', Icon: AuditIcon, key: 't' },
  {
    group: 'Approvals and people',
    to: '/operators',
    label: 'Operators',
    Icon: UserIcon,
    key: 'e',
    permission: 'administer',
  },
] as const

/** The places that the operator may go to. */
export function usePlaces() {
  const { can } = useSession()
  return PLACES.filter((place) => !('permission' in place) || can(place.permission))
}

const GROUPS = [...new Set(PLACES.map(({ group }) => group))]

export function Navigation({ onGo }: { readonly onGo: () => void }) {
  const places = usePlaces()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isAt = (to: string) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`))
  return (
    <ScrollArea style={{ flex: 1 }}>
      <Stack gap="xs">
        {GROUPS.map((group) => (
          <div key={group}>
            <Text size="xs" c="dimmed" fw={600} px="sm" py={4}>
              {group}
            </Text>
            {places
              .filter((place) => place.group === group)
              .map(({ to, label, Icon }) => (
                <NavLink
                  key={to}
                  component={Link}
                  to={to}
                  label={label}
                  leftSection={<Icon />}
                  active={isAt(to)}
                  aria-current={isAt(to) ? 'page' : undefined}
                  onClick={onGo}
                />
              ))}
          </div>
        ))}
      </Stack>
    </ScrollArea>
  )
}
