//! A device that runs compute shaders, and what can go wrong with it.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::Instant,
};

use partita_simulator::SimulatorError;
use thiserror::Error;
use wgpu::{
    Adapter, Backends, Buffer, BufferAsyncError, BufferDescriptor, BufferUsages, CommandEncoder, Device,
    DeviceDescriptor, DeviceType, ErrorFilter, Instance, InstanceDescriptor, Limits, MapMode, PollType,
    PowerPreference, Queue, RequestAdapterOptions,
};

use crate::kernels::{Kernels, WORKGROUP};

/// Why cloth cannot be simulated on a device.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum GpuError {
    /// Nothing runs compute shaders here, or no driver was found.
    #[error("no adapter: {0}")]
    NoAdapter(String),
    /// The adapter has less than is needed.
    #[error("adapter `{adapter}`: {what} is {found}, expected at least {needed}")]
    Limit {
        /// Its name.
        adapter: String,
        /// Which limit, with its unit.
        what: &'static str,
        /// Of the adapter.
        found: u64,
        /// For what is asked.
        needed: u64,
    },
    /// The adapter gave no device.
    #[error("no device: {0}")]
    NoDevice(String),
    /// The device has too little memory for what was asked.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// The device was lost, or refused a command.
    #[error("device: {0}")]
    Device(String),
}

impl From<GpuError> for SimulatorError {
    fn from(error: GpuError) -> Self {
        Self::failed("gpu", error, "a device that can go on")
    }
}

/// A device, which many cloths can share.
pub struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) kernels: Kernels,
    pub(crate) limits: Limits,
    adapter: String,
    is_software: bool,
    /// What went wrong first; from then on nothing is asked of the device.
    trouble: Arc<Mutex<Option<GpuError>>>,
}

impl Gpu {
    /// The adapter with the highest performance that is found.
    ///
    /// # Errors
    /// There is none, or it has less than the least that WebGPU promises.
    pub fn new() -> Result<Arc<Self>, GpuError> {
        let instance = Instance::new(InstanceDescriptor {
            backends: Backends::PRIMARY,
            ..InstanceDescriptor::new_without_display_handle()
        });
        let options =
            RequestAdapterOptions { power_preference: PowerPreference::HighPerformance, ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&options));
        Self::of(&adapter.map_err(|error| GpuError::NoAdapter(error.to_string()))?)
    }

    fn of(adapter: &Adapter) -> Result<Arc<Self>, GpuError> {
        let (info, found) = (adapter.get_info(), adapter.limits());
        let name = info.name.clone();
        let least = Limits::default();
        for (what, found, needed) in [
            (
                "storage buffers of a shader",
                found.max_storage_buffers_per_shader_stage,
                least.max_storage_buffers_per_shader_stage,
            ),
            (
                "threads of a workgroup",
                found.max_compute_invocations_per_workgroup,
                least.max_compute_invocations_per_workgroup,
            ),
        ] {
            if found < needed {
                let (found, needed) = (found.into(), needed.into());
                return Err(GpuError::Limit { adapter: name, what, found, needed });
            }
        }
        // More than promised only in size.
        let limits = Limits {
            max_buffer_size: found.max_buffer_size,
            max_storage_buffer_binding_size: found.max_storage_buffer_binding_size,
            ..least
        };
        let descriptor = DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::NoDevice(error.to_string()))?;
        let trouble = Arc::new(Mutex::new(None));
        let (lost, wrong) = (trouble.clone(), trouble.clone());
        device.set_device_lost_callback(move |reason, message| {
            note(&lost, GpuError::Device(format!("lost ({reason:?}): {message}")));
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(&wrong, told(&error))));
        let kernels = Kernels::new(&device);
        let is_software = info.device_type == DeviceType::Cpu;
        let gpu = Self { device, queue, kernels, limits, adapter: name, is_software, trouble };
        gpu.check()?;
        Ok(Arc::new(gpu))
    }

    /// Name of the adapter.
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Whether the adapter is a program that runs shaders on the CPU.
    pub fn is_software(&self) -> bool {
        self.is_software
    }

    /// Bytes that it reads and writes in a second where it does nothing else, by copying 64 MiB again and again for 50 ms or more `[B/s]`.
    ///
    /// # Errors
    /// There is not as much memory, or the device is lost.
    pub fn bandwidth(&self) -> Result<f64, GpuError> {
        const SIZE: u64 = 1 << 26;
        const LONG: f64 = 0.05;
        let [one, other] =
            [self.buffer("one", SIZE, BufferUsages::STORAGE)?, self.buffer("other", SIZE, BufferUsages::STORAGE)?];
        let staging = self.buffer("staging", 64, BufferUsages::MAP_READ)?;
        let copy = |times: u32| {
            let mut commands = self.device.create_command_encoder(&Default::default());
            (0..times).for_each(|_| commands.copy_buffer_to_buffer(&one, 0, &other, 0, SIZE));
            let begin = Instant::now();
            self.run(commands, &staging, 64, |_| begin.elapsed().as_secs_f64())
        };
        // The first time memory is there at all.
        copy(1)?;
        let mut times = 4;
        loop {
            let seconds = copy(times)?;
            if seconds > LONG {
                return Ok((2 * SIZE * u64::from(times)) as f64 / seconds);
            }
            times *= 2;
        }
    }

    /// How many threads a dispatch may have.
    pub(crate) fn most_threads(&self) -> u64 {
        u64::from(self.limits.max_compute_workgroups_per_dimension) * u64::from(WORKGROUP)
    }

    /// That something is more than the adapter has.
    pub(crate) fn limit(&self, what: &'static str, found: u64, needed: u64) -> GpuError {
        GpuError::Limit { adapter: self.adapter.clone(), what, found, needed }
    }

    /// # Errors
    /// Something went wrong before.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    /// Memory of so many bytes, zeroed.
    ///
    /// # Errors
    /// There is not as much.
    pub(crate) fn buffer(&self, label: &str, size: u64, usage: BufferUsages) -> Result<Buffer, GpuError> {
        self.check()?;
        let most = if usage.contains(BufferUsages::STORAGE) {
            self.limits.max_buffer_size.min(self.limits.max_storage_buffer_binding_size)
        } else {
            self.limits.max_buffer_size
        };
        // Empty buffers cannot be bound.
        let size = size.max(64).next_multiple_of(16);
        if size > most {
            return Err(self.limit("size of a buffer [B]", most, size));
        }
        let (memory, other) = (
            self.device.push_error_scope(ErrorFilter::OutOfMemory),
            self.device.push_error_scope(ErrorFilter::Internal),
        );
        let usage = usage | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let usage = if usage.contains(BufferUsages::MAP_READ) { usage - BufferUsages::COPY_SRC } else { usage };
        let buffer =
            self.device.create_buffer(&BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false });
        let errors = [pollster::block_on(other.pop()), pollster::block_on(memory.pop())];
        errors.into_iter().flatten().next().map_or(Ok(buffer), |error| Err(told(&error)))
    }

    /// A buffer with these numbers.
    ///
    /// # Errors
    /// There is not as much memory. If there is too little even to bring them there, the device is lost.
    pub(crate) fn filled<T: bytemuck::NoUninit>(
        &self,
        label: &str,
        numbers: &[T],
        usage: BufferUsages,
    ) -> Result<Buffer, GpuError> {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        let buffer = self.buffer(label, bytes.len() as u64, usage)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// Gives back memory of what was dropped, which has it until what was written there is sent off and done, as a step does too. What goes
    /// wrong is told by whoever waits next.
    pub(crate) fn tidy(&self) {
        self.queue.submit([]);
        drop(self.device.poll(PollType::Poll));
    }

    /// Runs commands, and waits for as many bytes as are wanted of what they copied to a buffer.
    ///
    /// # Errors
    /// The device is lost, or something went wrong.
    pub(crate) fn run<T>(
        &self,
        commands: CommandEncoder,
        staging: &Buffer,
        size: u64,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        self.check()?;
        self.queue.submit([commands.finish()]);
        let slice = staging.slice(..size);
        let (done, mapped) = mpsc::channel();
        slice.map_async(MapMode::Read, move |result| drop(done.send(result)));
        let value = self.wait_for(&mapped).and_then(|()| {
            let bytes = slice.get_mapped_range().map_err(|error| GpuError::Device(format!("{error:?}")))?;
            Ok(read(&bytes))
        });
        staging.unmap();
        value
    }

    /// Waits until a buffer is mapped, which another thread that waits for the same device may be told of first.
    fn wait_for(&self, mapped: &mpsc::Receiver<Result<(), BufferAsyncError>>) -> Result<(), GpuError> {
        let polled = self.device.poll(PollType::wait_indefinitely());
        self.check()?;
        let wrong = |error: &dyn std::error::Error| GpuError::Device(error.to_string());
        polled.map_err(|error| wrong(&error))?;
        mapped.recv().map_err(|error| wrong(&error))?.map_err(|error| wrong(&error))
    }

    /// Runs commands that nobody waits for.
    ///
    /// # Errors
    /// Something went wrong before.
    pub(crate) fn submit(&self, commands: CommandEncoder) -> Result<(), GpuError> {
        self.check()?;
        self.queue.submit([commands.finish()]);
        self.check()
    }
}

fn told(error: &wgpu::Error) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { source } => GpuError::OutOfMemory(source.to_string()),
        _ => GpuError::Device(error.to_string()),
    }
}

fn note(trouble: &Mutex<Option<GpuError>>, error: GpuError) {
    trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}
