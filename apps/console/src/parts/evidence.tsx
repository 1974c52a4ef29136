import { Alert, Anchor, Button, FileButton, Group, List, Paper, Stack, Text, Textarea } from '@mantine/core'
import type { ReactNode } from 'react'
import { type FormKey, partOf } from '../form-key.ts'
import { FormDialog, needed } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { Mark } from './status-badge.tsx'

/** A dispute as both applications know it. */
export interface Contested {
  readonly status: string
  readonly evidenceOn?: string
  readonly evidenceSentOn?: string
  readonly evidenceRequest?: string
  readonly evidenceRequestedOn?: string
  readonly closedOn?: string
}

interface EvidenceAskedProps {
  readonly dispute: Contested
  /** What it means to the reader. */
  readonly children: ReactNode
}

/** What an operator asked for, until the merchant has submitted more. */
export function EvidenceAsked({ dispute, children }: EvidenceAskedProps) {
  const { closedOn, evidenceOn, evidenceRequest, evidenceRequestedOn } = dispute
  if (!evidenceRequestedOn || closedOn) return undefined
  if (evidenceOn && Date.parse(evidenceOn) >= Date.parse(evidenceRequestedOn)) return undefined
  return (
    <Alert color="orange" title="More evidence is asked for">
      <Text size="sm" fw={500} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {evidenceRequest}
      </Text>
      <Text size="sm" mt={4}>
        {children}
      </Text>
    </Alert>
  )
}

/** Whether what was submitted has reached the bank. */
export function SendingMark({ dispute }: { readonly dispute: Contested }) {
  const { evidenceOn, evidenceSentOn, status } = dispute
  if (evidenceSentOn) return <Mark color="teal">Sent to the bank</Mark>
  if (evidenceOn) return <Mark color="orange">Not sent yet</Mark>
  return <Mark color={status === 'OPEN' ? 'orange' : 'gray'}>None</Mark>
}

interface Attachment {
  readonly attachmentId: string
  readonly name?: string
  readonly mediaType: string
  readonly size: number
}

export interface Submission {
  readonly evidenceId: string
  readonly evidence: string
  readonly createdOn: string
  readonly sentOn?: string
  readonly receipt?: string
  readonly attachments: readonly Attachment[]
}

const TYPES: Readonly<Record<string, string>> = {
  'application/pdf': 'PDF',
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
}

const SIZE = new Intl.NumberFormat('en-IN', { maximumFractionDigits: 1 })
const sizeOf = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.max(1, Math.round(bytes / 1_000))} kB` : `${SIZE.format(bytes / 1_000_000)} MB`

interface EvidenceListProps {
  readonly submissions: readonly Submission[]
  /** Address of an attachment; none where the person may not read it. */
  readonly hrefOf: ((attachmentId: string) => string) | undefined
  readonly none: string
}

/** What was submitted, with its files and whether it was sent; oldest first. */
export function EvidenceList({ submissions, hrefOf, none }: EvidenceListProps) {
  if (submissions.length === 0) return <Text c="dimmed">{none}</Text>
  return (
    <Stack gap="lg">
      {submissions.map((each) => (
        <Stack key={each.evidenceId} gap="xs" component="article">
          <Group gap="xs">
            <Text size="sm" c="dimmed">
              Submitted <Instant at={each.createdOn} long />
            </Text>
            {each.sentOn ? (
              <Mark color="teal">Sent to the bank</Mark>
            ) : (
              <Mark color="orange">Not sent yet</Mark>
            )}
          </Group>
          <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{each.evidence}</Text>
          {each.attachments.length > 0 && (
            <Group gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
              {each.attachments.map((file) => (
                <File key={file.attachmentId} file={file} hrefOf={hrefOf} />
              ))}
            </Group>
          )}
          {each.sentOn && (
            <Text size="sm" c="dimmed">
              Sent <Instant at={each.sentOn} />
              {each.receipt ? `, receipt ${each.receipt}` : ', no receipt yet'}
            </Text>
          )}
        </Stack>
      ))}
    </Stack>
  )
}

function File({
  file: { attachmentId, mediaType, name, size },
  hrefOf,
}: Pick<EvidenceListProps, 'hrefOf'> & { readonly file: Attachment }) {
  return (
    <Paper withBorder component="li" px="sm" py={6} maw="100%">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name === undefined ? (
          'File, erased'
        ) : hrefOf ? (
          <Anchor href={hrefOf(attachmentId)} download={name} inherit>
            {name}
          </Anchor>
        ) : (
          name
        )}
      </Text>
      <Text size="xs" c="dimmed">
        {TYPES[mediaType]} · {sizeOf(size)}
      </Text>
    </Paper>
  )
}

const FILES_MAX = 5
const BYTES_MAX = 5 * 2 ** 20

const wrongFiles = (files: readonly File[]): string | null => {
  if (files.length > FILES_MAX) return `At most ${FILES_MAX} files`
  const large = files.find(({ size }) => size > BYTES_MAX)
  return large ? `${large.name} is larger than 5 MB` : null
}

interface EvidenceFormProps {
  /** Whether there is some already. */
  readonly isMore: boolean
  readonly primary: boolean
  /** For whom it is, and where it goes. */
  readonly description: string
  readonly upload: (file: File, key: FormKey) => Promise<{ readonly attachmentId: string }>
  readonly submit: (
    evidence: { readonly evidence: string; readonly attachmentIds: string[] },
    key: FormKey,
  ) => Promise<unknown>
}

/** What shows that a payment is due: a text, and up to five files that are uploaded when it is submitted. */
export function EvidenceForm({ isMore, primary, description, upload, submit }: EvidenceFormProps) {
  return (
    <FormDialog
      label={isMore ? 'Add more evidence' : 'Submit evidence'}
      send="Submit evidence"
      variant={primary ? 'filled' : 'default'}
      initial={{ evidence: '', files: [] as File[] }}
      rules={{ evidence: needed, files: wrongFiles }}
      fields={(form) => (
        <>
          <Textarea
            label="Evidence"
            description={description}
            autosize
            minRows={4}
            maxLength={4_000}
            required
            {...form.getInputProps('evidence')}
          />
          <Files
            files={form.values.files}
            error={form.errors['files']}
            onChange={(files) => form.setFieldValue('files', files)}
          />
        </>
      )}
      submit={async ({ evidence, files }, key) => {
        const attachmentIds: string[] = []
        // One after the other: each is large.
        for (const [place, file] of files.entries())
          attachmentIds.push((await upload(file, partOf(key, place))).attachmentId)
        await submit({ evidence, attachmentIds }, key)
      }}
    />
  )
}

interface FilesProps {
  readonly files: readonly File[]
  readonly error: ReactNode
  readonly onChange: (files: File[]) => void
}

function Files({ files, error, onChange }: FilesProps) {
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        Files
      </Text>
      <Text size="xs" c="dimmed">
        Up to {FILES_MAX}: PDF, JPEG or PNG, at most 5 MB each
      </Text>
      {files.length > 0 && (
        <List size="sm" spacing={4} listStyleType="none">
          {files.map((file, place) => (
            <List.Item key={`${file.name} ${file.size}`} style={{ overflowWrap: 'anywhere' }}>
              {file.name}{' '}
              <Text span size="xs" c="dimmed">
                {sizeOf(file.size)}
              </Text>{' '}
              <Button
                variant="subtle"
                size="compact-xs"
                aria-label={`Leave out ${file.name}`}
                onClick={() => onChange(files.filter((_, at) => at !== place))}
              >
                Leave out
              </Button>
            </List.Item>
          ))}
        </List>
      )}
      <FileButton
        multiple
        accept="application/pdf,image/jpeg,image/png"
        inputProps={{ 'aria-label': 'Choose files' }}
        onChange={(chosen) => onChange([...files, ...chosen])}
      >
        {(props) => (
          <Button {...props} variant="default" size="xs" style={{ alignSelf: 'start' }}>
            Choose files
          </Button>
        )}
      </FileButton>
      {error && (
        <Text size="xs" c="red">
          {error}
        </Text>
      )}
    </Stack>
  )
}

const HOUR_MS = 3_600_000
/** How much time is left: `1 day 4 hours`; nothing once it is over. */
export function timeLeft(until: string, now = Date.now()): string | undefined {
  const hours = Math.floor((Date.parse(until) - now) / HOUR_MS)
  if (Date.parse(until) <= now) return undefined
  const [days, rest] = [Math.floor(hours / 24), hours % 24]
  const of = (many: number, one: string) => (many === 0 ? [] : [`${many} ${one}${many === 1 ? '' : 's'}`])
  return [...of(days, 'day'), ...of(rest, 'hour')].join(' ') || 'less than an hour'
}
