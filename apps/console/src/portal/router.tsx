import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { onSignedOut } from '../api.ts'
import { parseSearch, type Search, stringifySearch } from '../list-search.ts'
import { Waiting } from '../parts/loaded.tsx'
import { aboutQuery, forgetPerson, queryClient } from '../session.ts'
import { PageBroke } from '../shell/page-broke.tsx'
import { Layout } from './layout.tsx'
import { memberQuery } from './session.ts'

const root = createRootRoute({
  validateSearch: (search): Search => search as Search,
})

type Importer = () => Promise<Record<string, () => React.ReactNode>>
const shown = (importer: unknown, name: string) => lazyRouteComponent(importer as Importer, name)

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: shown(() => import('./pages/sign-in.tsx'), 'SignIn'),
})
const link = createRoute({
  getParentRoute: () => root,
  path: '/link',
  component: shown(() => import('./pages/link.tsx'), 'UseLink'),
})

/** Everything behind the sign-in; a member without a session goes there first and comes back. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Layout,
  beforeLoad: async ({ location }) => {
    const [session] = await Promise.all([
      queryClient.ensureQueryData(memberQuery),
      queryClient.ensureQueryData(aboutQuery),
    ])
    if (!session) {
      const back = location.href === '/' ? undefined : location.href
      throw redirect({ to: '/sign-in', search: { back } as Search })
    }
  },
})

const page = (path: string, importer: unknown, name: string) =>
  createRoute({ getParentRoute: () => inside, path, component: shown(importer, name) })

const routeTree = root.addChildren([
  signIn,
  link,
  inside.addChildren([
    page('$', () => import('./not-found.tsx'), 'NotFound'),
    page('/', () => import('./pages/overview.tsx'), 'Overview'),
    page('/qr-codes', () => import('./pages/qr-codes.tsx'), 'QrCodes'),
    page('/qr-codes/$qrCodeId', () => import('./pages/qr-code.tsx'), 'QrCode'),
    page('/payments', () => import('./pages/payments.tsx'), 'Payments'),
    page('/payments/$paymentId', () => import('./pages/payment.tsx'), 'Payment'),
    page('/refunds', () => import('./pages/refunds.tsx'), 'Refunds'),
    page('/payouts', () => import('./pages/payouts.tsx'), 'Payouts'),
    page('/statements', () => import('./pages/statements.tsx'), 'Statements'),
    page('/payouts/$payoutId', () => import('./pages/payouts.tsx'), 'Payout'),
    page('/disputes', () => import('./pages/disputes.tsx'), 'Disputes'),
    page('/disputes/$disputeId', () => import('./pages/dispute.tsx'), 'Dispute'),
    page('/companies', () => import('./pages/companies.tsx'), 'Companies'),
    page('/companies/$companyId', () => import('./pages/companies.tsx'), 'Company'),
    page('/users', () => import('./pages/holders.tsx'), 'Holders'),
    page('/users/$userId', () => import('./pages/holders.tsx'), 'Holder'),
    page('/card-accounts', () => import('./pages/card-accounts.tsx'), 'CardAccounts'),
    page('/card-accounts/$cardAccountId', () => import('./pages/card-accounts.tsx'), 'CardAccount'),
    page('/cards', () => import('./pages/cards.tsx'), 'Cards'),
    page('/cards/$svcCardId', () => import('./pages/card.tsx'), 'Card'),
    page('/coins', () => import('./pages/coins.tsx'), 'Coins'),
    page('/events', () => import('./pages/events.tsx'), 'Events'),
    page('/webhooks', () => import('./pages/webhooks.tsx'), 'Webhooks'),
    page('/webhooks/$endpointId', () => import('./pages/webhooks.tsx'), 'Webhook'),
    page('/requests', () => import('./pages/requests.tsx'), 'Requests'),
    page('/requests/$requestId', () => import('./pages/request.tsx'), 'Request'),
    page('/encryption-keys', () => import('./pages/encryption-keys.tsx'), 'EncryptionKeys'),
    page('/bank-account', () => import('./pages/bank-account.tsx'), 'BankAccount'),
    page('/activity', () => import('./pages/activity.tsx'), 'Activity'),
    page('/credentials', () => import('./pages/credentials.tsx'), 'Credentials'),
    page('/members', () => import('./pages/members.tsx'), 'Members'),
    page('/account', () => import('./pages/account.tsx'), 'Account'),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: '/portal',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: Waiting,
  defaultErrorComponent: PageBroke,
  scrollRestoration: true,
})

// A session that ends in the middle of something leads to the sign-in, and from there back. What was on the screen is
// forgotten once it has left it; before, it would be requested again.
onSignedOut.add(() => {
  queryClient.setQueryData(memberQuery.queryKey, null)
  void router.invalidate().then(forgetPerson)
})
