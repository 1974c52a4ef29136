import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { onSignedOut } from './api.ts'
import { parseSearch, type Search, stringifySearch } from './list-search.ts'
import { Waiting } from './parts/loaded.tsx'
import { aboutQuery, forgetPerson, queryClient, sessionQuery } from './session.ts'
import { Layout } from './shell/layout.tsx'
import { PageBroke } from './shell/page-broke.tsx'

const root = createRootRoute({
  validateSearch: (search): Search => search as Search,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'AcceptInvitation'),
})

const oidc = createRoute({
  getParentRoute: () => root,
  path: '/oidc',
  component: lazyRouteComponent(() => import('./pages/oidc.tsx'), 'FinishSingleSignOn'),
})

/** Everything behind the sign-in; an operator without a session goes there first and comes back to the requested page. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Layout,
  beforeLoad: async ({ location }) => {
    const [session] = await Promise.all([
      queryClient.ensureQueryData(sessionQuery),
      queryClient.ensureQueryData(aboutQuery),
    ])
    if (!session) {
      const back = location.href === '/' ? undefined : location.href
      throw redirect({ to: '/sign-in', search: { back } as Search })
    }
  },
})

type Importer = Parameters<typeof lazyRouteComponent>[0]

const page = <Path extends string>(path: Path, importer: Importer, name: string) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    component: lazyRouteComponent(importer as () => Promise<Record<string, () => React.ReactNode>>, name),
  })

/** An address of before. */
const moved = <Path extends string>(path: Path, to: string) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    beforeLoad: () => {
      throw redirect({ to: to as '/', replace: true })
    },
  })

const routeTree = root.addChildren([
  signIn,
  invitation,
  oidc,
  inside.addChildren([
    page('$', () => import('./shell/not-found.tsx'), 'NotFound'),
    page('/', () => import('./pages/home.tsx'), 'Home'),
    page('/status', () => import('./pages/status.tsx'), 'Status'),
    page('/alerts', () => import('./pages/alerts.tsx'), 'Alerts'),
    page('/requests', () => import('./pages/requests.tsx'), 'Requests'),
    page('/requests/$requestId', () => import('./pages/request.tsx'), 'Request'),
    page('/merchants', () => import('./pages/merchants.tsx'), 'Merchants'),
    page('/merchants/set-up', () => import('./pages/set-up-merchant.tsx'), 'SetUpMerchant'),
    page('/merchants/$merchantId/set-up', () => import('./pages/set-up-merchant.tsx'), 'SetUpMerchant'),
    page('/merchants/$merchantId', () => import('./pages/merchant.tsx'), 'Merchant'),
    page('/qr-codes', () => import('./pages/qr-codes.tsx'), 'QrCodes'),
    page('/qr-codes/$qrCodeId', () => import('./pages/qr-code.tsx'), 'QrCode'),
    page('/payments', () => import('./pages/payments.tsx'), 'Payments'),
    page('/payments/$paymentId', () => import('./pages/payment.tsx'), 'Payment'),
    page('/refunds', () => import('./pages/refunds.tsx'), 'Refunds'),
    page('/disputes', () => import('./pages/disputes.tsx'), 'Disputes'),
    page('/disputes/$disputeId', () => import('./pages/dispute.tsx'), 'Dispute'),
    page('/approvals', () => import('./pages/approvals.tsx'), 'Approvals'),
    page('/refunds/$refundId', () => import('./pages/refund.tsx'), 'Refund'),
    page('/suspense', () => import('./pages/suspense.tsx'), 'Suspense'),
    page('/notices', () => import('./pages/notices.tsx'), 'Notices'),
    page('/notices/$noticeId', () => import('./pages/notice.tsx'), 'Notice'),
    page('/payouts', () => import('./pages/payouts.tsx'), 'Payouts'),
    page('/payouts/$payoutId', () => import('./pages/payout.tsx'), 'Payout'),
    page('/bank-files', () => import('./pages/bank-files.tsx'), 'BankFiles'),
    page('/bank-files/out', () => import('./pages/bank-runs.tsx'), 'BankRuns'),
    page('/settlements', () => import('./pages/settlements.tsx'), 'Settlements'),
    moved('/settlements/import', '/bank-files'),
    page('/settlements/open-lines', () => import('./pages/settlement-lines.tsx'), 'OpenSettlementLines'),
    page('/settlements/$batchId', () => import('./pages/settlement.tsx'), 'Settlement'),
    page('/statements', () => import('./pages/statements.tsx'), 'Statements'),
    moved('/statements/import', '/bank-files'),
    page('/close', () => import('./pages/book-months.tsx'), 'BookMonths'),
    page('/close/$through', () => import('./pages/book-month.tsx'), 'BookMonth'),
    page('/partners', () => import('./pages/partners.tsx'), 'Partners'),
    page('/partners/set-up', () => import('./pages/set-up-partner.tsx'), 'SetUpPartner'),
    page('/partners/$partnerId/set-up', () => import('./pages/set-up-partner.tsx'), 'SetUpPartner'),
    page('/partners/$partnerId', () => import('./pages/partner.tsx'), 'Partner'),
    page('/companies', () => import('./pages/companies.tsx'), 'Companies'),
    page('/companies/$companyId', () => import('./pages/company.tsx'), 'Company'),
    page('/card-accounts', () => import('./pages/card-accounts.tsx'), 'CardAccounts'),
    page('/card-accounts/$cardAccountId', () => import('./pages/card-account.tsx'), 'CardAccount'),
    page('/users', () => import('./pages/users.tsx'), 'Users'),
    page('/users/$userId', () => import('./pages/user.tsx'), 'User'),
    page('/cards', () => import('./pages/cards.tsx'), 'Cards'),
    page('/cards/$svcCardId', () => import('./pages/card.tsx'), 'Card'),
    page('/card-exceptions', () => import('./pages/card-exceptions.tsx'), 'CardExceptions'),
    page('/card-exceptions/$exceptionId', () => import('./pages/card-exception.tsx'), 'CardException'),
    page('/coins', () => import('./pages/coins.tsx'), 'Coins'),
    page('/coins/$coinConfigId', () => import('./pages/coin-config.tsx'), 'CoinConfig'),
    page('/ledger', () => import('./pages/ledger.tsx'), 'Ledger'),
    page('/ledger/accounts/$accountId', () => import('./pages/ledger-account.tsx'), 'LedgerAccount'),
    page('/ledger/journals/$journalId', () => import('./pages/journal.tsx'), 'Journal'),
    page('/ledger/trial-balance', () => import('./pages/trial-balance.tsx'), 'TrialBalance'),
    page('/ledger/reconciliation', () => import('./pages/reconciliation.tsx'), 'Reconciliation'),
    page('/webhooks', () => import('./pages/webhooks.tsx'), 'Webhooks'),
    page('/webhooks/$endpointId', () => import('./pages/webhook.tsx'), 'Webhook'),
    page('/events', () => import('./pages/events.tsx'), 'Events'),
    page('/sessions', () => import('./pages/sessions.tsx'), 'Sessions'),
    page('/settings', () => import('./pages/settings.tsx'), 'Settings'),
    page('/operators', () => import('./pages/operators.tsx'), 'Operators'),
    page('/account', () => import('./pages/account.tsx'), 'Account'),
    page('/audit', () => import('./pages/audit.tsx'), 'Audit'),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
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
  queryClient.setQueryData(sessionQuery.queryKey, null)
  void router.invalidate().then(forgetPerson)
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
