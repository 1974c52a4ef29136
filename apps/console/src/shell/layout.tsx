import { useDisclosure } from '@mantine/hooks'
import { Navigate, Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { api, responseOf } from '../api.ts'
import { useSession, useSignOut } from '../session.ts'
import { CONSOLE_FIND } from './acts.ts'
import { AlertBadge } from './alert-badge.tsx'
import { useAreas } from './areas.ts'
import { Find } from './find.tsx'
import { Frame } from './frame.tsx'
import { Navigation, Tabs } from './navigation.tsx'
import { Shortcuts } from './shortcuts.tsx'

// Needed seldom, so they are not part of the first load; lazyPart would bring what they need into it.
const StepUp = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUp }))
const SignInAgain = lazy(async () => ({ default: (await import('./sign-in-again.tsx')).SignInAgain }))
const IdleWarning = lazy(async () => ({ default: (await import('./idle-warning.tsx')).IdleWarning }))

const stay = () => responseOf(api.GET('/session'))

/** The console around each of its pages. */
export function Layout() {
  const [finding, find] = useDisclosure(false)
  const [pasted, setPasted] = useState('')
  const { idleSeconds, mode, name, role } = useSession()
  const signOut = useSignOut()
  const areas = useAreas()
  const search = useCallback(
    (text = '') => {
      setPasted(text)
      find.open()
    },
    [find.open],
  )
  return (
    <>
      <Frame
        name="svc"
        mode={mode}
        person={{ name, role }}
        signOut={signOut}
        finds="Find names, amounts, UPI IDs, references, pages"
        onFind={() => search()}
        badge={<AlertBadge />}
        menu={(onGo) => <Navigation areas={areas} onGo={onGo} />}
      >
        <Tabs areas={areas} />
        <Place />
      </Frame>
      <Find source={CONSOLE_FIND} opened={finding} pasted={pasted} onClose={find.close} />
      <Shortcuts areas={areas} onSearch={search} />
      <Suspense fallback={null}>
        <StepUp />
        <SignInAgain />
        <IdleWarning idleSeconds={idleSeconds} stay={stay} />
      </Suspense>
    </>
  )
}

/** The page, or the own account while nothing else works. */
function Place() {
  const { secondFactorNeeded } = useSession()
  const { pathname } = useLocation()
  return secondFactorNeeded && pathname !== '/account' ? <Navigate to="/account" /> : <Outlet />
}
