import { Button, Code, Image, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { CodeInput } from '../parts/code-input.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Section } from '../parts/page.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { queryClient, sessionQuery } from '../session.ts'

const QUERY_KEY = ['second-factor']
const changed = () =>
  Promise.all(
    [QUERY_KEY, sessionQuery.queryKey].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  )

/** The authenticator app of the operator who is signed in. */
export function SecondFactor() {
  const state = useQuery({
    queryKey: QUERY_KEY,
    queryFn: () => responseOf(api.GET('/session/second-factor')),
  })
  const [codes, setCodes] = useState<readonly string[]>()
  return (
    <Section title="Authenticator app">
      <Loaded query={state}>
        {({ isOn, since, recoveryCodesLeft }) =>
          isOn ? (
            <Stack gap="sm" align="flex-start">
              <Text size="sm">
                Signing in with your password asks for a code, since <Instant at={since} />. Recovery codes
                left: {recoveryCodesLeft}.
              </Text>
              <NewCodes show={setCodes} />
              <Remove />
            </Stack>
          ) : (
            <Stack gap="sm" align="flex-start">
              <Text size="sm" c="dimmed">
                With an authenticator app on your phone, a stolen password alone opens nothing.
              </Text>
              <SetUp show={setCodes} />
            </Stack>
          )
        }
      </Loaded>
      <SecretOnce
        what="recovery codes"
        secret={codes?.join('\n')}
        lost="Each signs you in once without the app: keep them where you find them without your phone, such as a password manager."
        onDone={() => setCodes(undefined)}
      />
    </Section>
  )
}

type Show = (codes: readonly string[]) => void

function SetUp({ show }: { readonly show: Show }) {
  const start = useMutation({ mutationFn: () => responseOf(api.POST('/session/second-factor')) })
  return (
    <>
      {start.error && <FailureAlert failed={start.error} />}
      <Button variant="default" loading={start.isPending} onClick={() => start.mutate()}>
        Set up an app
      </Button>
      <Modal opened={start.data !== undefined} onClose={start.reset} title="Set up an authenticator app">
        {start.data && (
          <Enroll
            start={start.data}
            done={(codes) => {
              start.reset()
              show(codes)
            }}
          />
        )}
      </Modal>
    </>
  )
}

interface EnrollProps {
  readonly start: Schemas['SecondFactorStart']
  readonly done: Show
}

function Enroll({ start: { qrCodeBase64, secret }, done }: EnrollProps) {
  const form = useForm({ initialValues: { code: '' }, validate: { code: needed } })
  const confirm = useMutation({
    mutationFn: (code: string) => responseOf(api.POST('/session/second-factor/confirm', { body: { code } })),
    onSuccess: async ({ recoveryCodes }) => {
      await changed()
      done(recoveryCodes)
    },
  })
  return (
    <form onSubmit={form.onSubmit(({ code }) => confirm.mutate(code.trim()))} noValidate>
      <Stack>
        <Text size="sm">Scan this with the app, or type the secret. Then enter the code that it shows.</Text>
        <Image
          src={`data:image/png;base64,${qrCodeBase64}`}
          alt="QR code for the authenticator app"
          w={220}
          mx="auto"
          style={{ imageRendering: 'pixelated' }}
        />
        <Code block data-testid="secret" style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>
          {secret}
        </Code>
        <CodeInput
          description="Six digits, shown by the app"
          inputMode="numeric"
          data-autofocus
          {...form.getInputProps('code')}
        />
        {confirm.error && <FailureAlert failed={confirm.error} />}
        <Button type="submit" loading={confirm.isPending}>
          Confirm
        </Button>
      </Stack>
    </form>
  )
}

function NewCodes({ show }: { readonly show: Show }) {
  return (
    <ConfirmAction
      label="New recovery codes"
      confirm="Make new ones"
      run={async () => {
        const { recoveryCodes } = await responseOf(api.POST('/session/second-factor/recovery-codes'))
        await changed()
        show(recoveryCodes)
      }}
    >
      The codes of before stop working.
    </ConfirmAction>
  )
}

function Remove() {
  return (
    <ConfirmAction
      label="Remove"
      confirm="Remove the app"
      danger
      run={async () => {
        await responseOf(api.DELETE('/session/second-factor'))
        await changed()
      }}
    >
      Your password alone signs you in again. The recovery codes stop working.
    </ConfirmAction>
  )
}
