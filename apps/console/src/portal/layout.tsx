import { AppShell, Badge, Box, Burger, Button, Group, Menu, NavLink, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router'
import { Suspense } from 'react'
import {
  AccountIcon,
  AuditIcon,
  CoinIcon,
  CompanyIcon,
  ExceptionIcon,
  OverviewIcon,
  PaymentIcon,
  PayoutIcon,
  QrIcon,
  RefundIcon,
  RequestsIcon,
  StatementIcon,
  UserIcon,
  WebhookIcon,
} from '../parts/icons.tsx'
import { Waiting } from '../parts/loaded.tsx'
import { useSession } from '../session.ts'
import { Notices } from '../shell/notices.tsx'
import { ThemeSwitch } from '../shell/theme-switch.tsx'
import { signOut, useMember, useSessionCheck } from './session.ts'
import { StepUp } from './step-up.tsx'

/** The places of the portal by area; those of one kind of tenant, or of administrators, say so. */
const AREAS = [
  { title: undefined, places: [{ to: '/', label: 'Overview', Icon: OverviewIcon }] },
  {
    title: 'Payments',
    kind: 'merchant',
    places: [
      { to: '/payments', label: 'Payments', Icon: PaymentIcon },
      { to: '/qr-codes', label: 'QR codes', Icon: QrIcon },
      { to: '/refunds', label: 'Refunds', Icon: RefundIcon },
      { to: '/disputes', label: 'Disputes', Icon: ExceptionIcon },
      { to: '/payouts', label: 'Payouts', Icon: PayoutIcon },
    ],
  },
  {
    title: 'Cards',
    kind: 'partner',
    places: [
      { to: '/companies', label: 'Companies', Icon: CompanyIcon },
      { to: '/users', label: 'Users', Icon: UserIcon },
      { to: '/card-accounts', label: 'Card accounts', Icon: AccountIcon },
      { to: '/coins', label: 'Coins', Icon: CoinIcon },
    ],
  },
  {
    title: 'Developers',
    places: [
      { to: '/credentials', label: 'API keys', Icon: AuditIcon },
      { to: '/encryption-keys', label: 'Encryption keys', Icon: AuditIcon, kind: 'partner' },
      { to: '/webhooks', label: 'Webhooks', Icon: WebhookIcon },
      { to: '/requests', label: 'Requests', Icon: RequestsIcon },
    ],
  },
  {
    title: 'Settings',
    places: [
      { to: '/members', label: 'Members', Icon: UserIcon },
      { to: '/bank-account', label: 'Bank account and fee', Icon: PayoutIcon, kind: 'merchant' },
      { to: '/activity', label: 'Activity', Icon: StatementIcon, role: 'admin' },
    ],
  },
] as const

/** Header, places and the page itself. */
export function Layout() {
  const [navigating, navigation] = useDisclosure(false)
  useSessionCheck()
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !navigating } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" style={{ minWidth: 0 }}>
            <Burger
              opened={navigating}
              onClick={navigation.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={navigating ? 'Close the navigation' : 'Open the navigation'}
              aria-expanded={navigating}
            />
            <Tenant />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ThemeSwitch />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Places">
        <Navigation onGo={navigation.close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Box maw={1200} mx="auto">
          <Notices />
          <Suspense fallback={<Waiting />}>
            <Inside />
          </Suspense>
        </Box>
        <StepUp />
      </AppShell.Main>
    </AppShell>
  )
}

/** Who must set up a second factor does that first. */
function Inside() {
  const { secondFactorNeeded } = useMember()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return secondFactorNeeded && path !== '/account' ? <Navigate to={'/account' as string} /> : <Outlet />
}

function Tenant() {
  const { tenantName } = useMember()
  const { mode } = useSession()
  return (
    <>
      <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width={26} height={26} />
      <Text span fw={700} truncate>
        {tenantName}
      </Text>
      {mode === 'sandbox' && (
        <Badge variant="outline" color="gray" className="mark">
          sandbox
        </Badge>
      )}
    </>
  )
}

function Navigation({ onGo }: { readonly onGo: () => void }) {
  const { can, kind } = useMember()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isAt = (to: string) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`))
  const isShown = (place: object) =>
    (!('kind' in place) || place.kind === kind) && (!('role' in place) || can('admin'))
  return (
    <Stack gap={2} style={{ overflowY: 'auto' }}>
      {AREAS.filter(isShown).map(({ title, places }) => (
        <Stack key={title ?? 'home'} gap={2}>
          {title && (
            <Text size="xs" c="dimmed" px="sm" pt="sm">
              {title}
            </Text>
          )}
          {places.filter(isShown).map(({ to, label, Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to as string}
              label={label}
              leftSection={<Icon />}
              active={isAt(to)}
              aria-current={isAt(to) ? 'page' : undefined}
              onClick={onGo}
            />
          ))}
        </Stack>
      ))}
    </Stack>
  )
}

function Account() {
  const { name, role } = useMember()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" px="xs" aria-label={`Signed in as ${name}, ${role}`}>
          <UserIcon />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as <b>{name}</b>
          <br />
          Role: {role}
        </Menu.Label>
        <Menu.Item component={Link} to={'/account' as string}>
          Your account
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
