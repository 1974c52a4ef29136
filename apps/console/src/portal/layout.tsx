import { AppShell, Badge, Box, Burger, Button, Group, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { UserIcon } from '../parts/icons.tsx'
import { Waiting } from '../parts/loaded.tsx'
import { useSession } from '../session.ts'
import { AreaMenu } from '../shell/area-menu.tsx'
import { FindButton } from '../shell/find-button.tsx'
import { Notices } from '../shell/notices.tsx'
import { Shortcuts } from '../shell/shortcuts.tsx'
import { ThemeSwitch } from '../shell/theme-switch.tsx'
import { useAreas } from './areas.ts'
import { signOut, useMember, useSessionCheck } from './session.ts'

// Needed seldom, so they are not part of the first load; lazyPart would bring what they need into it.
const StepUp = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUp }))
const Find = lazy(async () => ({ default: (await import('./find.tsx')).Find }))

/** Header, places and the page itself. */
export function Layout() {
  const [navigating, navigation] = useDisclosure(false)
  const [pasted, setPasted] = useState<string>()
  const search = useCallback((text = '') => setPasted(text), [])
  const areas = useAreas()
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
            <FindButton onClick={() => search()}>Find a page, an amount, a reference</FindButton>
            <ThemeSwitch />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Places">
        <AreaMenu areas={areas} onGo={navigation.close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Box maw={1200} mx="auto">
          <Notices />
          <Suspense fallback={<Waiting />}>
            <Inside />
          </Suspense>
        </Box>
        <Suspense fallback={null}>
          <StepUp />
        </Suspense>
      </AppShell.Main>
      <Shortcuts areas={areas} onSearch={search} />
      {pasted !== undefined && (
        <Suspense fallback={null}>
          <Find pasted={pasted} onClose={() => setPasted(undefined)} />
        </Suspense>
      )}
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
        <Badge variant="outline" color="gray" className="mark" visibleFrom="sm">
          sandbox
        </Badge>
      )}
    </>
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
