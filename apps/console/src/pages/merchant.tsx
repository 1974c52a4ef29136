import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Money } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { type PageTab, PageTabs } from '../parts/page-tabs.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { BUSINESS_RULES, BusinessFields } from './merchant-form.tsx'
import {
  AUDIT_TAB,
  PeopleAndKeys,
  TenantLinks,
  type TenantPart,
  useFirstTab,
  WEBHOOKS_TAB,
} from './tenant-parts.tsx'

const MerchantFigures = lazyPart(async () => (await import('./merchant-figures.tsx')).MerchantFigures)
const MerchantVolume = lazyPart(async () => (await import('./merchant-figures.tsx')).MerchantVolume)
const MerchantSteps = lazyPart(async () => (await import('./merchant-steps.tsx')).MerchantSteps, null)
const PayoutTerms = lazyPart(async () => (await import('./payout-terms.tsx')).PayoutTerms)
const Payments = lazyPart(async () => (await import('./lists-of-merchant.tsx')).PaymentsOf)
const QrCodes = lazyPart(async () => (await import('./lists-of-merchant.tsx')).QrCodesOf)
const Payouts = lazyPart(async () => (await import('./lists-of-merchant.tsx')).PayoutsOf)
const Disputes = lazyPart(async () => (await import('./lists-of-merchant.tsx')).DisputesOf)

type Detail = Schemas['MerchantDetail']

const TABS: readonly PageTab<TenantPart>[] = [
  {
    key: 'payments',
    label: 'Payments',
    Part: ({ tenantId }) => (
      <Stack gap="md">
        <MerchantVolume merchantId={tenantId} />
        <Payments of={{ merchantId: tenantId }} />
      </Stack>
    ),
  },
  { key: 'codes', label: 'Codes', Part: ({ tenantId }) => <QrCodes of={{ merchantId: tenantId }} /> },
  { key: 'payouts', label: 'Payouts', Part: ({ tenantId }) => <Payouts of={{ merchantId: tenantId }} /> },
  { key: 'disputes', label: 'Disputes', Part: ({ tenantId }) => <Disputes of={{ merchantId: tenantId }} /> },
  WEBHOOKS_TAB,
  { key: 'people', label: 'People and keys', Part: PeopleAndKeys },
  { key: 'bank', label: 'Bank and fee', Part: ({ tenantId }) => <PayoutTerms merchantId={tenantId} /> },
  AUDIT_TAB,
]

const changed = () => queryClient.invalidateQueries({ queryKey: ['merchants'] })

export function Merchant() {
  const { merchantId = '' } = useParams({ strict: false })
  const first = useFirstTab('people')
  const query = useQuery({
    queryKey: ['merchants', merchantId],
    queryFn: () => responseOf(api.GET('/merchants/{merchantId}', { params: { path: { merchantId } } })),
  })
  return (
    <Page
      title={query.data?.name ?? 'Merchant'}
      badge={query.data && <StatusBadge state={query.data.status} />}
      trail={[{ to: '/merchants', label: 'Merchants' }]}
      actions={
        query.data && (
          <>
            <Edit merchant={query.data} />
            <Switch merchant={query.data} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(merchant) => (
          <>
            <MerchantSteps merchantId={merchant.merchantId} />
            <MerchantFigures merchantId={merchant.merchantId} />
            <About merchant={merchant} />
            <PageTabs
              label={`Of ${merchant.name}`}
              tabs={TABS}
              first={first}
              given={{ tenantId: merchantId }}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const nextAddress = (nextVpa: string, from: string | undefined) => ({
  label: 'Next VPA',
  value: (
    <>
      {nextVpa}, from <Instant at={from} long />
    </>
  ),
})

function About({ merchant }: { readonly merchant: Detail }) {
  const { merchantId, vpa, nextVpa, nextVpaOn, mcc, accessKey, payable, payableAccountId } = merchant
  const { createdOn, disabledOn } = merchant
  return (
    <Section title="About" aside={<TenantLinks tenantId={merchantId} refundsOf={{ merchantId }} />}>
      <Facts
        facts={[
          { label: 'Merchant id', value: <Id id={merchantId} what="merchant id" /> },
          { label: 'Access key (public)', value: <Id id={accessKey} what="access key" /> },
          { label: 'VPA', value: vpa },
          ...(nextVpa ? [nextAddress(nextVpa, nextVpaOn)] : []),
          { label: 'Category (MCC)', value: mcc },
          {
            label: 'Owed to it',
            value: (
              <ObjectLink kind="ledgerAccount" id={payableAccountId}>
                <Money amount={payable} />
              </ObjectLink>
            ),
          },
          { label: 'Created', value: <Instant at={createdOn} long /> },
          ...(disabledOn ? [{ label: 'Disabled', value: <Instant at={disabledOn} long /> }] : []),
        ]}
      />
    </Section>
  )
}

function Edit({ merchant: { merchantId, name, vpa, nextVpa, mcc } }: { readonly merchant: Detail }) {
  const { can } = useSession()
  if (!can('operations')) return undefined
  return (
    <FormDialog
      label="Edit"
      send="Save"
      variant="default"
      initial={{ name, vpa: nextVpa ?? vpa, mcc }}
      rules={BUSINESS_RULES}
      fields={(form) => (
        <BusinessFields
          form={form}
          aboutVpa={`For QR codes that it creates once the address has waited; printed ones keep what they say. ${vpa} takes back what waits`}
        />
      )}
      submit={async (body) => {
        await responseOf(
          api.PATCH('/merchants/{merchantId}/data', { params: { path: { merchantId } }, body }),
        )
        await changed()
      }}
    />
  )
}

function Switch({ merchant: { merchantId, status } }: { readonly merchant: Detail }) {
  const { can } = useSession()
  if (!can('operations')) return undefined
  const set = async (disabled: boolean) => {
    await responseOf(
      api.PATCH('/merchants/{merchantId}', { params: { path: { merchantId } }, body: { disabled } }),
    )
    await changed()
  }
  return status === 'active' ? (
    <ConfirmAction label="Disable" confirm="Disable merchant" danger run={() => set(true)}>
      Its tokens die within a second, it gets no new ones, and its QR codes take no payments: what is paid to
      them goes back. It can be enabled again.
    </ConfirmAction>
  ) : (
    <ConfirmAction label="Enable" confirm="Enable merchant" run={() => set(false)}>
      Its keys work again, and its active QR codes take payments.
    </ConfirmAction>
  )
}
