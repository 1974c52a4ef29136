import { Box, Code, Group, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, listAt, responseOf, type Schemas } from '../api.ts'
import { businessToday, lastDays, startOf } from '../figures.ts'
import { once } from '../form-key.ts'
import { CancelCode } from '../parts/code-form.tsx'
import { Copy } from '../parts/copy.tsx'
import { Figures } from '../parts/figures.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { ObjectHistory } from '../parts/history.tsx'
import { Instant } from '../parts/instant.tsx'
import { List } from '../parts/list-page.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { counted, Money, readRupees, rupees } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Reveal } from '../parts/personal-data.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { codeState } from '../words.ts'
import { PAYMENT_COLUMNS } from './payments.tsx'

type Detail = Schemas['QrCodeDetail']
/** Payments arrive while one looks. */
const REFRESH_MS = 5_000

const changed = () => queryClient.invalidateQueries({ queryKey: ['qr-codes'] })

export function QrCode() {
  const { qrCodeId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['qr-codes', qrCodeId],
    queryFn: () => responseOf(api.GET('/qr-codes/{qrCodeId}', { params: { path: { qrCodeId } } })),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Page
      title={query.data?.qrCode.qrName ?? 'QR code'}
      badge={query.data && <StatusBadge state={codeState(query.data.qrCode)} />}
      trail={[{ to: '/qr-codes', label: 'QR codes' }]}
      actions={query.data && <Actions qrCode={query.data.qrCode} />}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <Sums qrCode={detail.qrCode} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Image detail={detail} />
              <About detail={detail} />
            </SimpleGrid>
            <Payments qrCode={detail.qrCode} />
            <ObjectHistory id={qrCodeId} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Actions({ qrCode }: { readonly qrCode: Schemas['QrCodeRow'] }) {
  const { amount, expired, qrCodeId, qrName, status } = qrCode
  const { can, mode } = useSession()
  if (!can('support')) return undefined
  const cancel = async (reason: string) => {
    const params = { path: { qrCodeId } }
    await responseOf(api.POST('/qr-codes/{qrCodeId}/cancel', { params, body: reason ? { reason } : {} }))
    await changed()
  }
  return (
    <>
      {mode === 'sandbox' && <Pay qrCodeId={qrCodeId} amount={amount} />}
      {(expired || status === 'ACTIVE') && <CancelCode name={qrName} run={cancel} />}
    </>
  )
}

function Pay({ qrCodeId, amount }: { readonly qrCodeId: string; readonly amount: number | undefined }) {
  return (
    <FormDialog
      label="Pay this code"
      send="Pay"
      variant="default"
      initial={{ amount: amount === undefined ? '' : amount.toFixed(2), payerVpa: '' }}
      rules={{ amount: (value: string) => (readRupees(value) ? null : 'Rupees with at most two decimals') }}
      fields={(form) => (
        <>
          <Text size="sm" c="dimmed">
            The sandbox plays the payer and the bank. Amounts that end in .91 are declined, .92 arrive late,
            .93 arrive three times.
          </Text>
          <TextInput
            label="Amount in rupees"
            inputMode="decimal"
            leftSection="₹"
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput label="Payer" placeholder="payer@sandbox" {...form.getInputProps('payerVpa')} />
        </>
      )}
      submit={async (values, key) => {
        await responseOf(
          api.POST('/qr-codes/{qrCodeId}/pay', {
            params: { path: { qrCodeId }, header: once(key) },
            body: {
              amount: Number(readRupees(values.amount)),
              ...(values.payerVpa && { payerVpa: values.payerVpa }),
            },
          }),
        )
        notifications.show({ color: 'teal', message: 'Sent. What the code made of it is shown below.' })
        await changed()
      }}
    />
  )
}

function Image({ detail: { qrCode } }: { readonly detail: Detail }) {
  return (
    <Section title="The code">
      <Stack align="center" gap="sm">
        {qrCode.qrCodeBase64 && (
          // White around it in every scheme: scanners need the contrast.
          <Paper bg="white" p="md" withBorder>
            <Box
              component="img"
              src={`data:image/png;base64,${qrCode.qrCodeBase64}`}
              alt={`UPI QR code ${qrCode.qrName ?? ''}`}
              w={220}
              h={220}
              display="block"
              style={{ imageRendering: 'pixelated' }}
            />
          </Paper>
        )}
        <Group gap={4} wrap="nowrap" w="100%" align="start">
          <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap', flex: 1 }}>
            {qrCode.upiUri}
          </Code>
          <Copy text={qrCode.upiUri ?? ''} what="UPI string" />
        </Group>
      </Stack>
    </Section>
  )
}

function About({ detail: { qrCode } }: { readonly detail: Detail }) {
  const { merchantId, merchantName, tr } = qrCode
  const customer = [qrCode.customerName, qrCode.customerEmail, qrCode.customerMobile, qrCode.customerId]
  return (
    <Section title="About" aside={<Reveal id={qrCode.qrCodeId} shown={qrCode} />}>
      <Facts
        cols={2}
        facts={[
          { label: 'QR code id', value: <Id id={qrCode.qrCodeId} what="QR code id" /> },
          {
            label: 'Merchant',
            value: (
              <ObjectLink kind="merchant" id={merchantId}>
                {merchantName}
              </ObjectLink>
            ),
          },
          { label: 'Credits find it by (tr)', value: <Id id={tr} what="tr" /> },
          {
            label: qrCode.fixedAmount ? 'Amount, exactly' : 'Amount, suggested',
            value: <Money amount={qrCode.amount} none="any" />,
          },
          { label: 'Use', value: qrCode.multipleUse ? 'Many times' : 'Once' },
          { label: 'Expires', value: qrCode.expiry ? <Instant at={qrCode.expiry} long /> : 'Never' },
          { label: 'Reference number', value: qrCode.referenceNumber },
          { label: 'Customer', value: customer.filter(Boolean).join(', ') },
          { label: 'Description', value: qrCode.description },
          { label: 'Created', value: <Instant at={qrCode.createdOn} long /> },
          ...(qrCode.cancelReason === undefined
            ? []
            : [{ label: 'Reason of the cancellation', value: qrCode.cancelReason }]),
          { label: 'Last change', value: <Instant at={qrCode.modifiedOn} long /> },
          ...Object.entries(qrCode.customParams ?? {}).map(([name, value]) => ({
            label: `Custom: ${name}`,
            value,
          })),
        ]}
      />
    </Section>
  )
}

/** What the code took, each sum the accepted payments from an instant on. */
function Sums({ qrCode: { merchantId, qrCodeId } }: { readonly qrCode: Schemas['QrCodeRow'] }) {
  const days = useSession()
  const spans = [
    { label: 'Today', createdFrom: startOf(businessToday(days), days) },
    { label: '7 days', createdFrom: lastDays(7, days).from },
    { label: 'In all', createdFrom: undefined },
  ]
  const query = useQuery({
    queryKey: ['qr-codes', qrCodeId, 'totals', spans],
    queryFn: () =>
      Promise.all(
        spans.map(({ createdFrom }) =>
          responseOf(
            api.GET('/payments/totals', {
              params: { query: { merchantId, qrCodeId, ...(createdFrom && { createdFrom }) } },
            }),
          ),
        ),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })
  return (
    <Loaded query={query}>
      {(totals) => {
        const sums = totals.map(({ byStatus, exact }, turn) => {
          const { amount = '0.00', count = 0 } = byStatus.find(({ status }) => status === 'ACCEPTED') ?? {}
          const note = `${exact ? '' : 'at least '}${counted(count, 'payment')}`
          return { label: spans[turn]!.label, value: rupees(amount), note }
        })
        const refunded = rupees(totals.at(-1)!.refundedAmount)
        return (
          <Figures figures={[...sums, { label: 'Refunded', value: refunded, note: 'by the merchant' }]} />
        )
      }}
    </Loaded>
  )
}

const COLUMNS = [
  ...PAYMENT_COLUMNS.filter(({ title }) => title !== 'Merchant' && title !== 'QR code'),
  { title: 'Payer', cell: ({ payerVpa }: Schemas['PaymentRow']) => payerVpa ?? '–' },
]

function Payments({ qrCode: { merchantId, qrCodeId } }: { readonly qrCode: Schemas['QrCodeRow'] }) {
  const { mode } = useSession()
  return (
    <Section title="Payments">
      <List
        name="payments"
        id={qrCodeId}
        caption="Payments"
        load={listAt('/payments', {}, { merchantId, qrCodeId })}
        columns={COLUMNS}
        rowKey={({ paymentId }) => paymentId}
        filters={[]}
        refreshMs={REFRESH_MS}
        empty={
          <Text c="dimmed" size="sm">
            None yet.{mode === 'sandbox' && ' “Pay this code” above plays a payer.'}
          </Text>
        }
      />
    </Section>
  )
}
