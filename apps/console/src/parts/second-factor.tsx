import { Button, Code, Image, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { queryOptions, useIsMutating, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { queryClient } from '../session.ts'
import { CodeInput } from './code-input.tsx'
import { ConfirmAction } from './confirm-action.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Loaded } from './loaded.tsx'
import { Section } from './page.tsx'
import { SecretOnce } from './secret-once.tsx'

export const secondFactorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: () => responseOf(api.GET('/session/second-factor')),
})

interface Called {
  /** Loads the session again, which says whether a second factor is missing. */
  readonly refreshSession: () => Promise<unknown>
}

const changed = (refreshSession: Called['refreshSession']) =>
  Promise.all([queryClient.invalidateQueries({ queryKey: secondFactorQuery.queryKey }), refreshSession()])

/** The authenticator app of the person who is signed in. */
export function SecondFactor({ refreshSession }: Called) {
  const state = useQuery(secondFactorQuery)
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
              <NewCodes refreshSession={refreshSession} show={setCodes} />
              <Remove refreshSession={refreshSession} />
            </Stack>
          ) : (
            <Stack gap="sm" align="flex-start">
              <Text size="sm" c="dimmed">
                With an authenticator app on your phone, a stolen password alone opens nothing.
              </Text>
              <SetUp refreshSession={refreshSession} show={setCodes} />
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

interface ShowProps extends Called {
  readonly show: Show
}

const CONFIRM = ['second-factor', 'confirm']

function SetUp({ refreshSession, show }: ShowProps) {
  const start = useMutation({ mutationFn: () => responseOf(api.POST('/session/second-factor')) })
  const busy = useIsMutating({ mutationKey: CONFIRM }) > 0
  return (
    <>
      {start.error && <FailureAlert failed={start.error} />}
      <Button variant="default" loading={start.isPending} onClick={() => start.mutate()}>
        Set up an app
      </Button>
      <Modal
        opened={start.data !== undefined}
        onClose={() => !busy && start.reset()}
        title="Set up an authenticator app"
      >
        {start.data && (
          <Enroll
            refreshSession={refreshSession}
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

interface EnrollProps extends Called {
  readonly start: Schemas['SecondFactorStart']
  readonly done: Show
}

function Enroll({ refreshSession, start: { qrCodeBase64, secret }, done }: EnrollProps) {
  const form = useForm({ initialValues: { code: '' }, validate: { code: needed } })
  const confirm = useMutation({
    mutationKey: CONFIRM,
    mutationFn: (code: string) => responseOf(api.POST('/session/second-factor/confirm', { body: { code } })),
    onSuccess: async ({ recoveryCodes }) => {
      await changed(refreshSession)
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

function NewCodes({ refreshSession, show }: ShowProps) {
  return (
    <ConfirmAction
      label="New recovery codes"
      confirm="Make new ones"
      run={async () => {
        const { recoveryCodes } = await responseOf(api.POST('/session/second-factor/recovery-codes'))
        await changed(refreshSession)
        show(recoveryCodes)
      }}
    >
      The codes of before stop working.
    </ConfirmAction>
  )
}

function Remove({ refreshSession }: Called) {
  return (
    <ConfirmAction
      label="Remove"
      confirm="Remove the app"
      danger
      run={async () => {
        await responseOf(api.DELETE('/session/second-factor'))
        await changed(refreshSession)
      }}
    >
      Your password alone signs you in again. The recovery codes stop working.
    </ConfirmAction>
  )
}
