import { Box, Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormKey, once } from '../../form-key.ts'
import { CancelCode } from '../../parts/code-form.tsx'
import { Instant } from '../../parts/instant.tsx'
import { List } from '../../parts/list-page.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money } from '../../parts/money.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { api, getList, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'
import { PAYMENT_COLUMNS, type PaymentRow } from './payments.tsx'
import { stateOf } from './qr-codes.tsx'

/** Payments arrive while one looks. */
const REFRESH_MS = 5_000
const inPath = (qrCodeId: string) => ({ params: { path: { qrCodeId } } })
const load = (qrCodeId: string) => payloadOf(api.GET('/qr-code/{qrCodeId}', inPath(qrCodeId)))
type Code = Awaited<ReturnType<typeof load>>

export function QrCode() {
  const { qrCodeId = '' } = useParams({ strict: false })
  const code = useQuery({
    queryKey: ['qr-codes', qrCodeId],
    queryFn: () => load(qrCodeId),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Page
      title={code.data?.qrName ?? 'QR code'}
      badge={code.data && <StatusBadge state={stateOf(code.data)} />}
      trail={[{ to: '/qr-codes', label: 'QR codes' }]}
      actions={code.data && <Actions qrCodeId={qrCodeId} code={code.data} />}
    >
      <Loaded query={code}>
        {(one) => (
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Sheet code={one} />
            <Section title="About">
              <Facts cols={2} facts={factsOf(qrCodeId, one)} />
            </Section>
          </SimpleGrid>
        )}
      </Loaded>
      <Section title="Payments">
        <List
          name="payments"
          id={qrCodeId}
          caption="Payments of this code"
          load={getList<PaymentRow>('/payments', { qrCodeId })}
          columns={PAYMENT_COLUMNS}
          rowKey={({ paymentId }) => paymentId}
          filters={[]}
          refreshMs={REFRESH_MS}
          empty={<Text c="dimmed">None yet.</Text>}
        />
      </Section>
    </Page>
  )
}

const factsOf = (qrCodeId: string, code: Code) => [
  { label: 'Id', value: <Id id={qrCodeId} what="id" /> },
  {
    label: code.fixedAmount || code.amount === undefined ? 'Amount' : 'Amount, suggested',
    value: <Money amount={code.amount} none="The payer chooses" />,
  },
  ...(code.minimumAmount === undefined
    ? []
    : [{ label: 'At least', value: <Money amount={code.minimumAmount} /> }]),
  { label: 'Use', value: code.multipleUse ? 'Any number of payments' : 'One payment' },
  { label: 'Reference', value: code.referenceNumber },
  { label: 'Accepted', value: <Money amount={code.payments.amount} /> },
  { label: 'Payments', value: String(code.payments.count) },
  { label: 'Created', value: <Instant at={code.createdOn} /> },
  { label: 'Expires', value: <Instant at={code.expiry} /> },
  ...(code.cancelReason === undefined
    ? []
    : [{ label: 'Reason of the cancellation', value: code.cancelReason }]),
]

/** What is printed: the code, its name and its amount; styles hide everything else on paper. */
function Sheet({ code }: { readonly code: Code }) {
  const { tenantName } = useMember()
  return (
    <Box className="print-sheet">
      <Section title="To be scanned">
        <Stack align="center" gap="xs">
          <img
            src={`data:image/png;base64,${code.qrCodeBase64}`}
            alt={`QR code ${code.qrName ?? ''}`}
            width={260}
            height={260}
            style={{ imageRendering: 'pixelated', background: 'white', padding: 8, maxWidth: '100%' }}
          />
          <Text fw={700}>{tenantName}</Text>
          <Text>{code.qrName}</Text>
          {code.fixedAmount && <Money amount={code.amount} fz="xl" fw={700} />}
        </Stack>
      </Section>
    </Box>
  )
}

function Actions({ qrCodeId, code }: { readonly qrCodeId: string; readonly code: Code }) {
  const { can } = useMember()
  const cancel = async (reason: string, key: FormKey) => {
    await payloadOf(
      api.PATCH('/qr-code/{qrCodeId}/cancel', {
        params: { path: { qrCodeId }, header: once(key) },
        body: reason ? { reason } : {},
      }),
    )
    await changed('qr-codes')
  }
  return (
    <>
      <Button variant="default" onClick={() => window.print()}>
        Print
      </Button>
      {can('operator') && code.status === 'ACTIVE' && <CancelCode name={code.qrName} run={cancel} />}
    </>
  )
}
